"""Scrapers of every version, and clients that ask for nonsense."""

import pytest

from exporter.adapters.negotiation import prefers_openmetrics

OPEN = "application/openmetrics-text"
OF_PROMETHEUS_2_42 = (
    f"{OPEN};version=1.0.0,{OPEN};version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)
OF_PROMETHEUS_3 = (
    f"{OPEN};version=1.0.0;escaping=allow-utf-8;q=0.6,{OPEN};version=1.0.0;q=0.5,"
    f"{OPEN};version=0.0.1;q=0.4,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.3,"
    "text/plain;version=0.0.4;q=0.2,*/*;q=0.1"
)


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        pytest.param(OF_PROMETHEUS_2_42, True, id="Prometheus 2.42"),
        pytest.param(OF_PROMETHEUS_3, True, id="Prometheus 3"),
        pytest.param(f"text/plain;version=0.0.4, {OPEN};version=1.0.0", True, id="alike"),
        pytest.param(f'{OPEN}; version="1.0.0"', True, id="a version in quotes"),
        pytest.param(f"{OPEN}; version=2.0.0", True, id="a later version, answered with ours"),
        pytest.param(OPEN, True, id="no version"),
        pytest.param(f"{OPEN};version=0.0.1", False, id="a version before the first"),
        pytest.param(f"{OPEN};q=0, text/plain", False, id="refused"),
        pytest.param(f"{OPEN};q=0.2, text/plain;q=0.4", False, id="liked less"),
        pytest.param(f"{OPEN};version=abc", False, id="a version that is no number"),
        pytest.param(f"{OPEN};version=1e999", False, id="a version without end"),
        pytest.param(f"{OPEN};q=nan", False, id="a weight that is no number"),
        pytest.param("text/plain;version=abc", False, id="text of a version that is no number"),
        pytest.param(";;=,=;=,", False, id="separators only"),
        pytest.param("*/*", False, id="anything"),
        pytest.param("", False, id="nothing"),
    ],
)
def test_a_client_gets_what_it_prefers(accept: str, expected: bool) -> None:
    assert prefers_openmetrics(accept) is expected
