"""Our exposition is the library's, byte for byte, whatever the labels and values."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics
from prometheus_client import generate_latest as plain_text
from prometheus_client.openmetrics.exposition import generate_latest as open_metrics

from exporter.adapters.exposition import Histograms, Scalars, header, table_lines
from exporter.metrics.family import Family, InfoTable, Type

HELP = 'A "quoted" help with a back\\slash\nand a second line.'
BOUNDS = (0.005, 0.3, 1.25, 30, 2_500_000)
LABELS = st.tuples(st.text(), st.text())
VALUES = st.floats(allow_nan=False)
AMOUNTS = st.floats(min_value=0, max_value=1e300)

disable_created_metrics()


def family(kind: Type, name: str) -> Family:
    return Family(name=name, type=kind, help=HELP, labels=("target", "a_first"))


def ours(family: Family, series: Scalars | Histograms, *, openmetrics: bool) -> str:
    return header(family, openmetrics=openmetrics) + "".join(series.lines()) + "# EOF\n" * openmetrics


Encode = Callable[[CollectorRegistry], bytes]
FORMATS = pytest.mark.parametrize(
    ("encode", "openmetrics"),
    [pytest.param(plain_text, False, id="text"), pytest.param(open_metrics, True, id="OpenMetrics")],
)


@FORMATS
@given(st.dictionaries(LABELS, st.lists(AMOUNTS, min_size=1, max_size=3), max_size=4))
def test_counters(encode: Encode, openmetrics: bool, added: dict[tuple[str, str], list[float]]) -> None:
    spec, registry = family(Type.COUNTER, "things_total"), CollectorRegistry()
    series, instrument = Scalars(spec), Counter("things", HELP, spec.labels, registry=registry)
    for labels, amounts in added.items():
        for amount in amounts:
            series.add(labels, amount)
            instrument.labels(*labels).inc(amount)
    assert ours(spec, series, openmetrics=openmetrics) == encode(registry).decode()


@FORMATS
@given(st.dictionaries(LABELS, VALUES | st.just(float("nan")), max_size=4))
def test_gauges(encode: Encode, openmetrics: bool, values: dict[tuple[str, str], float]) -> None:
    spec, registry = family(Type.GAUGE, "level"), CollectorRegistry()
    series, instrument = Scalars(spec), Gauge("level", HELP, spec.labels, registry=registry)
    for labels, value in values.items():
        series.set(labels, value)
        instrument.labels(*labels).set(value)
    assert ours(spec, series, openmetrics=openmetrics) == encode(registry).decode()


@FORMATS
@given(st.dictionaries(LABELS, st.lists(AMOUNTS | st.sampled_from(BOUNDS), max_size=5), max_size=3))
def test_histograms(encode: Encode, openmetrics: bool, seen: dict[tuple[str, str], list[float]]) -> None:
    spec, registry = family(Type.HISTOGRAM, "wait_seconds"), CollectorRegistry()
    series = Histograms(spec, BOUNDS)
    instrument = Histogram("wait_seconds", HELP, spec.labels, registry=registry, buckets=BOUNDS)
    for labels, values in seen.items():
        series.observe(labels, None)
        instrument.labels(*labels)
        for value in values:
            series.observe(labels, value)
            instrument.labels(*labels).observe(value)
    assert ours(spec, series, openmetrics=openmetrics) == encode(registry).decode()


def test_a_million_is_written_as_the_library_writes_it() -> None:
    spec = family(Type.HISTOGRAM, "wait_seconds")
    series = Histograms(spec, (1.0,))
    series.observe(("t", "a"), None)
    series._children["t", "a"].counts[0] = 1_234_567
    assert 'wait_seconds_count{a_first="a",target="t"} 1.234567e+06\n' in list(series.lines())


def test_an_info_table_is_a_gauge_at_one() -> None:
    spec = family(Type.GAUGE, "thing_info")
    table = InfoTable(spec, ("target", "site"), (("t", "fra1"),))
    assert list(table_lines(table)) == ['thing_info{site="fra1",target="t"} 1.0\n']
