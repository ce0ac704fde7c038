"""One target from the variables that OpenAI's own tools read, for use without a configuration file."""

from collections.abc import Mapping
from pathlib import Path

from exporter.config.kind import Kind
from exporter.config.load import checked
from exporter.config.problem import ConfigError, Problem
from exporter.config.tree import Document, Plain, grown
from exporter.model.configuration import Configuration

BASE_URL = "OPENAI_BASE_URL"
API_KEY = "OPENAI_API_KEY"
MODEL = "OPENAI_MODEL"

_SOURCE = "environment"
_VARIABLES = {"targets[0].base_url": BASE_URL, "targets[0].model": MODEL}
_MISSING = {
    BASE_URL: "not set; set it to the endpoint, such as http://127.0.0.1:8000/v1, or give --config FILE",
    MODEL: "not set; set it to the model to ask for, or give --config FILE",
}


def from_environment(environ: Mapping[str, str], kinds: Mapping[str, Kind]) -> Configuration:
    """Return a configuration of one target ``env`` with one probe ``chat``, or raise ConfigError.

    The API key is optional, since many servers ask for none.  No objective is set: nobody has promised one.
    """
    problems = [
        Problem(None, name, text) for name, text in _MISSING.items() if not environ.get(name, "").strip()
    ]
    if problems:
        raise ConfigError(_SOURCE, problems)
    target: dict[str, Plain] = {
        "name": "env",
        "base_url": environ[BASE_URL].strip(),
        "model": environ[MODEL].strip(),
        "probes": [{"name": "chat", "kind": "chat"}],
    }
    if environ.get(API_KEY, "").strip():
        target["api_key_env"] = API_KEY
    plain: Plain = {"targets": [target]}
    try:
        return checked(Document(grown(plain, 0), plain, ()), kinds, None, source=_SOURCE, folder=Path())
    except ConfigError as error:
        said = [Problem(None, _VARIABLES.get(p.path, p.path), p.text) for p in error.problems]
        raise ConfigError(_SOURCE, said) from None
