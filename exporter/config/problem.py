"""What is wrong with a configuration, where, and what to do about it."""

from collections.abc import Iterable
from dataclasses import dataclass

from exporter.config.leaks import redact


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: ``text`` says what is wrong and the next step, in one line.

    ``line`` counts from 1 and is None where there is no file; ``path`` is empty for the whole file.  Whatever
    looks like a key is taken out of both texts.
    """

    line: int | None
    path: str
    text: str

    def __post_init__(self) -> None:
        # Here and not where it is printed: no path to a log or a page may go around it.
        for name in ("path", "text"):
            object.__setattr__(self, name, redact(" ".join(getattr(self, name).split())))

    def at(self, source: str) -> str:
        """Return ``source:line: path: text``."""
        place = source if self.line is None else f"{source}:{self.line}"
        return f"{place}: {self.path}: {self.text}" if self.path else f"{place}: {self.text}"


class ConfigError(Exception):
    """The configuration cannot be used.  Every problem found is in it, in the order of the file."""

    def __init__(self, source: str, problems: Iterable[Problem]) -> None:
        self.source = source
        self.problems = tuple(sorted(set(problems), key=lambda p: (p.line or 0, p.path, p.text)))
        super().__init__("\n".join(self.lines))

    @property
    def lines(self) -> tuple[str, ...]:
        """One line a problem, ready to print."""
        return tuple(problem.at(self.source) for problem in self.problems)
