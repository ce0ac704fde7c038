"""The sink: what is applied is shown, what is forgotten is gone, and any thread may look."""

import re
import sys
import threading

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from exporter.adapters.prometheus import Sink
from exporter.metrics.buckets import bucket_bounds
from exporter.metrics.catalogue import ALL, probe, sla
from exporter.metrics.family import Family, InfoTable, Sample, Type
from exporter.metrics.samples import initial, of
from exporter.metrics.sla_ledger import SlaLedger
from exporter.metrics.targets import departed, target_info
from exporter.model.outcome import Outcome
from tests.metrics import builders
from tests.metrics.builders import WHO, plan, result, target, ttft
from tests.metrics.scrape import lines, ready_sink, told_sink

OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"

COUNT = Family(name="a_total", type=Type.COUNTER, help="A.", labels=("target", "kind"))
LEVEL = Family(name="b", type=Type.GAUGE, help="B.", labels=("target",))
TIME = Family(name="c_seconds", type=Type.HISTOGRAM, help="C.", labels=("target",), buckets=(1, 2))
BARE_LEVEL = Family(name="d", type=Type.GAUGE, help="D.")
BARE_TIME = Family(name="e_seconds", type=Type.HISTOGRAM, help="E.", buckets=(1,))
INFO = Family(name="f_info", type=Type.GAUGE, help="F.", labels=("target",), open_labels=True)
FAMILIES = (COUNT, LEVEL, TIME, BARE_LEVEL, BARE_TIME, INFO)


def sink_with(*samples: Sample) -> Sink:
    sink = Sink(FAMILIES, {})
    sink.apply(samples)
    return sink


def series(sink: Sink, containing: str = "") -> list[str]:
    return [line for line in lines(sink, containing) if not line.startswith("#")]


def test_a_counter_adds_a_gauge_sets_a_histogram_observes():
    sink = sink_with(
        Sample(COUNT, ("x", "k"), 2),
        Sample(COUNT, ("x", "k"), 3),
        Sample(LEVEL, ("x",), 2),
        Sample(LEVEL, ("x",), 3),
        Sample(TIME, ("x",), 2),
        Sample(TIME, ("x",), 3),
    )
    assert series(sink, 'target="x"') == [
        'c_seconds_bucket{le="1.0",target="x"} 0.0',
        'c_seconds_bucket{le="2.0",target="x"} 1.0',
        'c_seconds_bucket{le="+Inf",target="x"} 2.0',
        'c_seconds_count{target="x"} 2.0',
        'c_seconds_sum{target="x"} 5.0',
        'b{target="x"} 3.0',
        'a_total{kind="k",target="x"} 5.0',
    ]


def test_none_creates_a_counter_at_0_and_an_empty_histogram_and_takes_a_gauge_away():
    sink = sink_with(Sample(COUNT, ("x", "k"), None), Sample(TIME, ("x",), None), Sample(LEVEL, ("x",), 1))
    sink.apply([Sample(LEVEL, ("x",), None), Sample(LEVEL, ("never seen",), None)])
    assert 'a_total{kind="k",target="x"} 0.0' in series(sink)
    assert 'c_seconds_count{target="x"} 0.0' in series(sink)
    assert series(sink, "b{") == []


def test_none_leaves_what_has_been_counted():
    sink = sink_with(Sample(COUNT, ("x", "k"), 2), Sample(TIME, ("x",), 2))
    sink.apply([Sample(COUNT, ("x", "k"), None), Sample(TIME, ("x",), None)])
    assert 'a_total{kind="k",target="x"} 2.0' in series(sink)
    assert 'c_seconds_count{target="x"} 1.0' in series(sink)


def test_a_gauge_without_labels_is_absent_until_set():
    sink = sink_with()
    assert series(sink, "d ") == []
    sink.apply([Sample(BARE_LEVEL, (), 0)])
    assert series(sink, "d ") == ["d 0.0"]
    assert "e_seconds_count 0.0" in series(sink)


@pytest.mark.parametrize(
    ("sample", "error"),
    [
        pytest.param(Sample(LEVEL, (), 1), ValueError, id="a label is missing"),
        pytest.param(Sample(BARE_TIME, ("x",), 1), ValueError, id="a label too many"),
        pytest.param(Sample(COUNT, ("x", "k"), -1), ValueError, id="a counter cannot go down"),
        pytest.param(Sample(probe.PROBES, WHO, 1), KeyError, id="a family that is not in the sink"),
    ],
)
def test_a_defect_of_the_caller_is_raised(sample, error):
    with pytest.raises(error):
        sink_with().apply([sample])


def test_forget_removes_the_departed_and_nothing_else():
    sink = sink_with(
        *(
            Sample(family, labels, 1)
            for name in ("x", "y")
            for family, labels in (
                (COUNT, (name, "k")),
                (COUNT, (name, "l")),
                (LEVEL, (name,)),
                (TIME, (name,)),
            )
        ),
        Sample(BARE_LEVEL, (), 1),
    )
    others = [line for line in series(sink) if 'target="x"' not in line]
    sink.forget({"target": "x", "kind": "k"})
    assert len(series(sink, 'a_total{kind="l",target="x"}')) == 1
    assert series(sink, 'a_total{kind="k",target="x"}') == []
    assert len(series(sink, 'b{target="x"}')) == 1
    sink.forget({"target": "x"})
    assert series(sink) == others
    sink.forget({})
    assert series(sink) == others


def test_what_was_forgotten_starts_again_from_0():
    sink = sink_with(Sample(COUNT, ("x", "k"), 5), Sample(TIME, ("x",), 1))
    sink.forget({"target": "x"})
    sink.apply([Sample(COUNT, ("x", "k"), 1), Sample(TIME, ("x",), None)])
    assert 'a_total{kind="k",target="x"} 1.0' in series(sink)
    assert 'c_seconds_count{target="x"} 0.0' in series(sink)


def test_new_bounds_restart_their_own_family_with_every_child_and_no_other():
    sink = sink_with(Sample(COUNT, ("x", "k"), 5), Sample(TIME, ("x",), 1.5), Sample(BARE_TIME, (), 0.5))
    sink.set_buckets({"c_seconds": (1, 2)})
    assert 'c_seconds_count{target="x"} 1.0' in series(sink)
    sink.set_buckets({"c_seconds": (1, 1.25, 2)})
    assert 'c_seconds_count{target="x"} 0.0' in series(sink)
    sink.apply([Sample(TIME, ("x",), 1.2)])
    assert 'c_seconds_bucket{le="1.25",target="x"} 1.0' in series(sink)
    assert 'a_total{kind="k",target="x"} 5.0' in series(sink)
    assert "e_seconds_count 1.0" in series(sink)


def test_bounds_of_the_configuration_go_before_the_familys_own():
    sink = Sink(FAMILIES, {"c_seconds": (7,)})
    sink.apply([Sample(TIME, ("x",), 5)])
    assert series(sink, "c_seconds_bucket") == [
        'c_seconds_bucket{le="7.0",target="x"} 1.0',
        'c_seconds_bucket{le="+Inf",target="x"} 1.0',
    ]


def test_an_info_table_replaces_the_one_before():
    sink = sink_with()
    sink.set_info(InfoTable(INFO, ("target", "site"), (("x", "fra1"), ("y", ""))))
    assert series(sink, "f_info") == ['f_info{site="fra1",target="x"} 1.0', 'f_info{site="",target="y"} 1.0']
    sink.set_info(InfoTable(INFO, ("target",), (("y",),)))
    assert series(sink, "f_info") == ['f_info{target="y"} 1.0']


def test_a_label_value_cannot_break_out_of_its_quotes():
    sink = sink_with(Sample(LEVEL, ('x"} 1\ninjected{a="\\',), 1))
    assert series(sink, "b{") == ['b{target="x\\"} 1\\ninjected{a=\\"\\\\"} 1.0']


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/plain; version=0.0.4; charset=utf-8"),
        ("*/*", "text/plain; version=0.0.4; charset=utf-8"),
        (OPENMETRICS, "application/openmetrics-text; version=1.0.0; charset=utf-8"),
    ],
)
def test_the_accept_header_chooses_the_format(accept, content_type):
    body, got = told_sink().render(accept)
    assert got.startswith(content_type)
    assert (body.endswith(b"# EOF\n")) == ("openmetrics" in got)
    assert b"_created" not in body


def test_openmetrics_says_the_same_as_text():
    sink = told_sink()
    body, _ = sink.render(OPENMETRICS)
    parsed = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for metric in text_string_to_metric_families(body.decode())
        for sample in metric.samples
        if not sample.name.startswith("process_")
    }
    assert len(parsed) == len(series(sink))
    key = (("model", "llama"), ("probe", "short"), ("target", "prod"))
    assert parsed["inference_probes_total", key] == 4


def test_a_reload_forgets_the_departed_and_keeps_everyone_elses_counts():
    sink, ledger = ready_sink((plan("a"), plan("b")))
    for name in ("a", "b"):
        failed = result(Outcome.DNS, target=target(name))
        sink.apply(of(failed))
        sink.apply(ledger.record(failed))
    kept = [line for line in series(sink, 'target="b"') if "target_info" not in line]
    new = (plan("b"), plan("c"))
    for labels in departed((plan("a"), plan("b")), new):
        sink.forget(labels)
        ledger.forget(labels)
    sink.set_info(target_info(p.target for p in new))
    for p in new:
        sink.apply(initial(p.target, p.probes[0]))
    assert series(sink, 'target="a"') == []
    assert [line for line in series(sink, 'target="b"') if "target_info" not in line] == kept
    newcomer = series(sink, 'target="c"')
    assert 'inference_probes_total{model="llama",probe="short",target="c"} 0.0' in newcomer
    assert len(newcomer) > 100


def test_the_exposition_has_this_processs_own_memory_cpu_and_descriptors():
    text = told_sink().render("")[0].decode()
    for name in ("process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds"):
        assert re.search(rf"^{name} [1-9]|^{name} 0\.\d*[1-9]", text, re.MULTILINE)


@pytest.fixture
def eager_switching():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


ROUNDS = 4000


@pytest.mark.usefixtures("eager_switching")
def test_scrapes_during_changes_are_whole_lose_nothing_and_show_no_part_above_its_total():
    sink, ledger = ready_sink((plan(),))
    bounds = bucket_bounds((plan(),))
    slow, failed = result(timing=ttft(0.31)), result(Outcome.DNS)
    other = result(target=target("passing"))
    stop, scrapes, errors = threading.Event(), [], []

    def scrape():
        try:
            while not stop.is_set():
                scrapes.append(_values_of(sink))
        except Exception as error:  # noqa: BLE001 - handed to the test's own thread
            errors.append(error)

    readers = [threading.Thread(target=scrape) for _ in range(2)]
    for reader in readers:
        reader.start()
    for n in range(ROUNDS):
        one = failed if n % 2 else slow
        sink.apply(of(one))
        sink.apply(ledger.record(one))
        sink.apply(of(other))
        sink.forget({"target": "passing"})
        if n % 50 == 0:
            sink.set_buckets(bounds | {probe.ITL.name: (0.1, 0.2 + n)})
            sink.set_info(target_info([builders.target(labels={f"l{n}": "v"})]))
    stop.set()
    for reader in readers:
        reader.join()
    assert errors == []
    assert len(scrapes) > 5
    final = _values_of(sink)
    assert final[sla.REQUESTS.name] == final[sla.BREACHES.name] == ROUNDS
    assert final[probe.FAILED.name] == final[probe.TTFT.name + "_count"] == ROUNDS / 2
    for seen in (*scrapes, final):
        assert seen[sla.BREACH_RUNS.name] <= seen[sla.BREACHES.name] <= seen[sla.REQUESTS.name]
        assert seen[probe.FAILED.name] + seen[probe.TTFT.name + "_count"] <= seen[probe.PROBES.name]
        assert seen.get(probe.LAST.name, 1_700_000_000.0) == 1_700_000_000.0


_COMPARED = (
    *(family.name for family in (sla.REQUESTS, sla.BREACHES, sla.BREACH_RUNS)),
    *(family.name for family in (probe.PROBES, probe.FAILED, probe.LAST)),
    f"{probe.TTFT.name}_count",
)
_WANTED = re.compile(rf'^({"|".join(_COMPARED)})\{{[^}}]*target="prod"\}} (\S+)$')


def _values_of(sink: Sink) -> dict[str, float]:
    found = {}
    for line in sink.render("")[0].decode().splitlines():
        match = _WANTED.match(line)
        if (
            match
            and ("sli=" not in line or "ttft_p99" in line)
            and ("reason=" not in line or '"dns"' in line)
        ):
            found[match[1]] = float(match[2])
    return found


def test_series_of_one_probe_are_few():
    sink, _ = ready_sink((plan(),))
    ledger = SlaLedger()
    for outcome in Outcome:
        full = result(outcome, timing=ttft(0.2))
        sink.apply(of(full))
        sink.apply(ledger.record(full))
    mine = [line for line in series(sink, 'target="prod"') if "target_info" not in line]
    slis = 2
    assert len([line for line in mine if "sli=" not in line]) <= 140
    assert len([line for line in mine if "sli=" in line]) <= 8 * slis


def test_all_families_of_the_catalogue_fit_into_one_sink():
    text = Sink(ALL, {}).render("")[0].decode()
    assert set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE)) >= {family.name for family in ALL}
