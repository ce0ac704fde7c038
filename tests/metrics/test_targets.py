"""The info table, and what a reload leaves behind."""

from dataclasses import replace

import pytest

from exporter.metrics.targets import departed, target_info
from exporter.model.clocks import Clock
from exporter.model.target import Connection, Severity
from tests.metrics.builders import AVAILABILITY, TTFT_P99, plan, probe, target

WHO = {"target": "prod", "model": "llama", "probe": "short"}


def test_label_names_are_the_union_and_a_missing_one_is_empty():
    table = target_info(
        [target("a", labels={"site": "fra1"}), target("b", labels={"chip": "h200"}), target("c")]
    )
    assert table.labels == ("target", "model", "host", "chip", "site")
    assert table.rows == (
        ("a", "llama", "api.example.com", "", "fra1"),
        ("b", "llama", "api.example.com", "h200", ""),
        ("c", "llama", "api.example.com", "", ""),
    )


def test_a_configured_label_never_replaces_an_identity_label():
    table = target_info([target(labels={"model": "other", "host": "elsewhere"})])
    assert table.labels == ("target", "model", "host")
    assert table.rows == (("prod", "llama", "api.example.com"),)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://127.0.0.1:8000/v1", "127.0.0.1:8000"),
        ("https://user:secret@api.example.com/v1", "api.example.com"),
        ("https://us%40er:se@cret@[::1]:8443", "[::1]:8443"),
    ],
)
def test_the_host_is_shown_without_user_and_password(url, host):
    assert target_info([target(base_url=url)]).rows[0][2] == host


def test_the_same_configuration_leaves_nothing_behind():
    plans = [plan("a"), plan("b", probe(), probe("long"))]
    assert departed(plans, list(reversed(plans))) == ()


@pytest.mark.parametrize(
    ("new", "left"),
    [
        pytest.param([], (WHO,), id="the target is gone"),
        pytest.param([plan("prod", probe("long"))], (WHO,), id="the probe is gone"),
        pytest.param([plan("prod", model="qwen")], (WHO,), id="the model is another"),
        pytest.param(
            [plan("prod", probe(clocks=frozenset({Clock.E2E})))], (WHO,), id="the probe measures other clocks"
        ),
        pytest.param(
            [plan("prod", probe(objectives=(AVAILABILITY,)))],
            (WHO | {"sli": "ttft_p99"},),
            id="an objective is gone",
        ),
        pytest.param(
            [plan("prod", probe(objectives=(replace(TTFT_P99, severity=Severity.TICKET), AVAILABILITY)))],
            (WHO | {"sli": "ttft_p99", "severity": "page"},),
            id="a broken objective wakes nobody any more",
        ),
        pytest.param(
            [plan("prod", probe(connection=Connection.FRESH))],
            (WHO | {"kind": "chat", "connection": "reuse"},),
            id="the connection is kept no more",
        ),
        pytest.param(
            [plan("prod", probe(every_s=60.0, timeout_s=5.0))], (), id="interval and timeout are overwritten"
        ),
        pytest.param(
            [plan("prod", probe(objectives=(TTFT_P99, AVAILABILITY))), plan("new")], (), id="a target came"
        ),
    ],
)
def test_what_a_reload_leaves_behind(new, left):
    assert departed([plan()], new) == left
