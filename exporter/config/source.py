"""A configuration file and the target files that it names, read again as they change."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from exporter.config import files
from exporter.config.kind import Kind
from exporter.config.load import checked
from exporter.config.parse import YamlSyntaxError, parse
from exporter.config.problem import ConfigError, Problem
from exporter.config.tree import Document, Plain
from exporter.model.configuration import Configuration, TargetPlan

_Signature = tuple[tuple[str, int, int], ...]


class Source:
    """Where the configuration comes from.  Not thread-safe: one call at a time.

    A target file that cannot be used keeps its last good content in force; the others go on.
    """

    def __init__(self, path: Path, kinds: Mapping[str, Kind], suites: Collection[str] | None) -> None:
        self._path = path
        self._kinds = kinds
        self._suites = suites
        self._main: Configuration | None = None
        self._common: dict[str, Plain] = {}
        self._good: dict[Path, tuple[TargetPlan, ...]] = {}
        self._read: _Signature = ()
        self._seen: _Signature = ()

    def load(self) -> Configuration:
        """Read everything.  Raises ConfigError for the configuration file itself and for its patterns.

        What is wrong with target files is in the configuration's ``target_file_problems``.
        """
        document = _parsed(self._path)
        main = checked(document, self._kinds, self._suites, source=str(self._path), folder=self._path.parent)
        plain = document.plain
        self._common = _common(plain)
        self._main = main
        return self._with_target_files(main)

    def discovered(self) -> Configuration | None:
        """Return a new configuration when target files changed since they were read, else None.

        A change counts once it was seen twice alike: a file that is being written may be valid too soon.
        """
        if self._main is None or not self._main.target_files:
            return None
        try:
            return self._changed(self._main)
        except ConfigError:
            # A disk that is away for a moment: what is in force goes on, and the next look may see more.
            return None

    def _changed(self, main: Configuration) -> Configuration | None:
        now = _signature(self._paths(main))
        is_settled, self._seen = now == self._seen, now
        if now == self._read or not is_settled:
            return None
        return self._with_target_files(main)

    def _paths(self, main: Configuration) -> list[Path]:
        found: set[Path] = set()
        for pattern in main.target_files:
            anchor = Path(pattern).anchor
            try:
                found.update(Path(anchor).glob(pattern.removeprefix(anchor)))
            except OSError as error:
                text = f"{pattern} cannot be looked through: {error.strerror}; check the folder and its disk"
                raise ConfigError(str(self._path), [Problem(None, "target_files", text)]) from None
        return sorted(found)

    def _with_target_files(self, main: Configuration) -> Configuration:
        paths = self._paths(main)
        self._read = self._seen = _signature(paths)
        self._good = {path: plans for path, plans in self._good.items() if path in paths}
        problems: list[str] = []
        plans = list(main.targets)
        for path in paths:
            try:
                self._good[path] = self._targets(path)
            except ConfigError as error:
                problems += error.lines
            taken = {plan.target.name for plan in plans}
            for plan in self._good.get(path, ()):
                if plan.target.name in taken:
                    problems.append(f"{path}: the target name {plan.target.name} is taken; choose another")
                else:
                    plans.append(plan)
        return replace(main, targets=tuple(plans), target_file_problems=tuple(problems))

    def _targets(self, path: Path) -> tuple[TargetPlan, ...]:
        document = _parsed(path)
        plain = document.plain
        if not isinstance(plain, dict) or set(plain) != {"targets"}:
            text = "a target file has the one key targets, a list as in the configuration file"
            raise ConfigError(str(path), [Problem(None, "", text)])
        whole = Document(document.root, plain | self._common, document.problems)
        return checked(whole, self._kinds, self._suites, source=str(path), folder=path.parent).targets


def _common(plain: Plain) -> dict[str, Plain]:
    """Return what the targets of a target file need to know of the configuration file."""
    items = plain.items() if isinstance(plain, dict) else ()
    return {key: value for key, value in items if key in {"defaults", "power"}}


def _parsed(path: Path) -> Document:
    try:
        return parse(files.read(path))
    except YamlSyntaxError as error:
        raise ConfigError(str(path), [error.problem]) from None


def _signature(paths: list[Path]) -> _Signature:
    return tuple(_stats(paths))


def _stats(paths: list[Path]) -> Iterator[tuple[str, int, int]]:
    for path in paths:
        try:
            stat = path.stat()
        except OSError:
            continue
        yield str(path), stat.st_mtime_ns, stat.st_size
