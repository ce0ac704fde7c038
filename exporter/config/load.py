"""A configuration file in, the checked configuration or every problem out."""

from collections.abc import Collection, Mapping
from pathlib import Path

from pydantic import ValidationError

from exporter.config import explain, files
from exporter.config.build import build
from exporter.config.crosscheck import crosscheck, secrets
from exporter.config.kind import Kind
from exporter.config.parse import YamlSyntaxError, parse
from exporter.config.problem import ConfigError
from exporter.config.schema import File
from exporter.config.tree import Document
from exporter.model.configuration import Configuration


def load(path: Path, kinds: Mapping[str, Kind], suites: Collection[str] | None = None) -> Configuration:
    """Return the configuration that a YAML file describes.

    Relative paths in it count from its own folder.  Environment variables and key files that it names are
    not looked at.  ``suites`` are the names that a bench may have; None lets any pass.

    Raises ConfigError with every problem found.
    """
    try:
        document = parse(files.read(path))
    except YamlSyntaxError as error:
        raise ConfigError(str(path), [error.problem]) from None
    return checked(document, kinds, suites, source=str(path), folder=path.parent)


def checked(
    document: Document,
    kinds: Mapping[str, Kind],
    suites: Collection[str] | None,
    *,
    source: str,
    folder: Path,
) -> Configuration:
    """Return the configuration of a parsed file.  Raises ConfigError with every problem found."""
    leaked = list(secrets(document))
    found = crosscheck(document, kinds, suites)
    problems = [*document.problems, *files.certificates(document, folder), *found.problems]
    file = None
    try:
        file = File.model_validate(document.plain)
    except ValidationError as error:
        problems += explain.problems(error, File, document)
    # Where a secret stands, that is all there is to say about the place.
    unspoken = {problem.path for problem in leaked}
    problems = leaked + [problem for problem in problems if problem.path not in unspoken]
    if file is None or problems:
        raise ConfigError(source, problems)
    return build(file, found.probes, folder)
