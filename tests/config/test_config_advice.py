"""Warnings about what is allowed but may not be meant, and the forecast of a day."""

from pathlib import Path

import pytest

from exporter.config.advice import advice
from exporter.config.forecast import forecast
from exporter.config.load import load
from exporter.model.configuration import Configuration
from exporter.model.token_estimate import TEMPLATE_TOKENS
from tests.config.kinds import KINDS

CALM = {
    "base_url": "https://api.example.com/v1",
    "target": "api_key_env: PROD_KEY",
    "probe": "every: 15s, timeout: 10s",
    "web": "listen: 127.0.0.1:9780",
}


def configured(tmp_path: Path, **changes: str) -> Configuration:
    said = {**CALM, **changes}
    path = tmp_path / "c.yml"
    path.write_text(
        f"targets:\n  - name: t\n    base_url: {said['base_url']}\n    model: m\n    {said['target']}\n"
        f"    probes: [{{name: a, kind: chat, {said['probe']}}}]\nweb: {{{said['web']}}}\n"
    )
    return load(path, KINDS)


def test_a_calm_configuration_gets_no_advice(tmp_path: Path) -> None:
    assert advice(configured(tmp_path), {"PROD_KEY": "x"}) == ()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"probe": "every: 15s, timeout: 15s"}, None),
        ({"probe": "every: 15s, timeout: 16s"}, "timeout is longer than every in t/a: "),
        (
            {"probe": "timeout: 10s, stall_timeout: 10s"},
            "a: stall_timeout 10s is not shorter than timeout",
        ),
        (
            {"probe": "timeout: 10s, sla: {e2e: {p99: 10s}}"},
            "a: e2e_p99 of 10s is not shorter than timeout 10s",
        ),
        ({"probe": "timeout: 10s, sla: {availability: 99%, ttft: {p99: 9s}}"}, None),
        ({"base_url": "https://api.example.com/"}, "target t: base_url has no path; "),
        ({"base_url": "https://api.example.com/openai"}, None),
        (
            {"base_url": "http://api.example.com/v1"},
            "t: the API key crosses the network in clear text",
        ),
        ({"base_url": "http://127.0.0.1:8000/v1"}, None),
        ({"base_url": "http://[::1]:8000/v1"}, None),
        ({"base_url": "http://localhost:8000/v1"}, None),
        ({"target": "tls: {insecure: true}"}, "target t: tls.insecure accepts any certificate"),
        ({"web": "listen: 0.0.0.0:9780"}, "web.listen: 0.0.0.0 can be reached from other hosts"),
        ({"web": "listen: localhost:9780"}, None),
        ({"target": "power: {gpus: [GPU-5fd4fc9c]}"}, None),
        (
            {"target": "power: {gpus: [GPU-5fd4fc9c]}", "web": "}\npower: {enabled: false"},
            "target t: power.gpus of it stay unknown",
        ),
        ({"target": "api_key_env: OTHER_KEY"}, "target t: the environment variable OTHER_KEY is not set; "),
        (
            {"target": "api_key_env: hunter2"},
            "t: the environment variable of api_key_env is not set",
        ),
        ({"target": "api_key_file: none"}, "target t: api_key_file cannot be read; "),
        ({"target": "api_key_file: c.yml"}, None),
    ],
    ids=lambda value: str(value)[:50],
)
def test_advice(tmp_path: Path, changes: dict[str, str], expected: str | None) -> None:
    lines = advice(configured(tmp_path, **changes), {"PROD_KEY": "x"})
    if expected is None:
        assert lines == ()
    else:
        assert len(lines) == 1
        assert expected in lines[0]


def test_empty_key_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("")
    (line,) = advice(configured(tmp_path, target="api_key_file: key"), {})
    assert "api_key_file is empty" in line


def test_overruns_of_many_probes_are_one_line(tmp_path: Path) -> None:
    path = tmp_path / "c.yml"
    probes = "".join(f"      - {{name: p{i}, kind: chat}}\n" for i in range(5))
    path.write_text(f"targets:\n  - name: t\n    base_url: https://h/v1\n    model: m\n    probes:\n{probes}")
    (line,) = advice(load(path, KINDS), {})
    assert line.startswith("timeout is longer than every in t/p0 and 4 more: ")


def test_a_day_in_requests_tokens_and_money(tmp_path: Path) -> None:
    configuration = configured(
        tmp_path,
        target="prices: {input_per_mtok: 2, output_per_mtok: 10, currency: EUR}",
        probe="every: 1m, params: {prompt: '12345678', max_tokens: 50}",
    )
    (day,) = forecast(configuration)
    assert day.requests == 1440
    assert day.output_tokens == 1440 * 50
    assert day.input_tokens == 1440 * (2 + TEMPLATE_TOKENS)
    assert day.cost == pytest.approx((1440 * 12 * 2 + 1440 * 50 * 10) / 1e6)


def test_no_price_no_money(tmp_path: Path) -> None:
    (day,) = forecast(configured(tmp_path))
    assert day.cost is None


def test_a_kind_without_max_tokens_generates_none(tmp_path: Path) -> None:
    path = tmp_path / "c.yml"
    path.write_text(
        "targets:\n  - {name: t, base_url: 'https://h/v1', model: m,\n"
        "     prices: {input_per_mtok: 1, output_per_mtok: 1},\n"
        "     probes: [{name: a, kind: embeddings, params: {input: abcd}}]}\n"
    )
    (day,) = forecast(load(path, KINDS))
    assert (day.output_tokens, day.cost) == (0, pytest.approx(day.input_tokens / 1e6))
    assert day.input_tokens == day.requests * (1 + TEMPLATE_TOKENS)
