"""One target from OPENAI_BASE_URL, OPENAI_API_KEY and OPENAI_MODEL."""

import pytest

from exporter.config.environment import from_environment
from exporter.config.problem import ConfigError
from exporter.model.target import KeySource
from tests.config.kinds import KINDS, ChatParams

FULL = {
    "OPENAI_BASE_URL": "http://127.0.0.1:8000/v1/",
    "OPENAI_MODEL": "tiny",
    "OPENAI_API_KEY": "sk-0123456789abcdef",
}


def said(**changes: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        from_environment({**FULL, **changes}, KINDS)
    return list(caught.value.lines)


def test_one_target_with_one_chat_probe_and_no_promise() -> None:
    configuration = from_environment(FULL, KINDS)
    ((plan,), benches) = (configuration.targets, configuration.benches)
    assert (plan.target.name, plan.target.base_url, plan.target.model) == (
        "env",
        "http://127.0.0.1:8000/v1",
        "tiny",
    )
    assert plan.target.key == KeySource(env="OPENAI_API_KEY")
    (spec,) = plan.probes
    assert (spec.name, spec.kind, spec.params, spec.objectives) == ("chat", "chat", ChatParams(), ())
    assert benches == ()


@pytest.mark.parametrize(
    "key", [{}, {"OPENAI_API_KEY": ""}, {"OPENAI_API_KEY": " \n"}], ids=["unset", "empty", "blank"]
)
def test_key_is_optional(key: dict[str, str]) -> None:
    without = {name: value for name, value in FULL.items() if name != "OPENAI_API_KEY"}
    assert from_environment({**without, **key}, KINDS).targets[0].target.key is None


def test_the_key_itself_is_nowhere_in_the_configuration() -> None:
    assert FULL["OPENAI_API_KEY"] not in repr(from_environment(FULL, KINDS))


def test_what_is_missing_is_named_all_at_once() -> None:
    assert said(OPENAI_BASE_URL="", OPENAI_MODEL=" ") == [
        (
            "environment: OPENAI_BASE_URL: not set; set it to the endpoint, "
            "such as http://127.0.0.1:8000/v1, or give --config FILE"
        ),
        "environment: OPENAI_MODEL: not set; set it to the model to ask for, or give --config FILE",
    ]


def test_what_is_wrong_is_named_by_its_variable() -> None:
    assert said(OPENAI_BASE_URL="localhost:8000/v1", OPENAI_MODEL="a\nb") == [
        "environment: OPENAI_BASE_URL: must begin with http:// or https://, such as https://api.example.com/v1",
        "environment: OPENAI_MODEL: must be 1 to 200 printable characters without spaces at either end",
    ]


def test_credentials_in_the_url_are_refused_and_not_repeated() -> None:
    (line,) = said(OPENAI_BASE_URL="http://me:hunter2@host/v1")
    assert "hunter2" not in line
    assert "holds a user name or password" in line
