"""The benchmarks compute what they say, on figures made by hand."""

import math
from pathlib import Path

import pytest

from benchmarks import accuracy
from benchmarks.many_probes import Run, configuration
from benchmarks.pairing import Observed, Sample, samples, sending_delays_s
from benchmarks.quantiles import quantile
from benchmarks.service import Scrape, Usage
from benchmarks.truth import Fault, Kind, TrueRequest
from exporter.config.load import load
from exporter.metrics.catalogue import probe, schedule
from exporter.model.answer import read_answer
from exporter.model.outcome import Outcome
from exporter.model.results import ProbeResult
from exporter.model.target import Connection, ProbeSpec, Target
from exporter.model.timeline import timing_of
from exporter.model.transcript import Piece, Transcript
from exporter.probes import KINDS, chat

MS = 1_000_000


def event(text: str, finish: str = "null") -> bytes:
    choice = f'{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":{finish}}}'
    return f'data: {{"id":"chatcmpl-7","choices":[{choice}]}}\n\n'.encode()


def observed(pieces: list[tuple[int, int, int, bytes]]) -> Observed:
    """A request sent at 10 ms, whose reads are (arrival, earliest, reading time, bytes), in ms."""
    transcript = Transcript(
        started_ns=9 * MS,
        sent_ns=10 * MS,
        headers_ns=pieces[0][0] * MS,
        complete_ns=pieces[-1][0] * MS,
        closed_ns=500 * MS,
        status=200,
        headers=(("content-type", "text/event-stream"),),
        body=tuple(Piece(at * MS, early * MS, read * MS, data) for at, early, read, data in pieces),
    )
    spec = ProbeSpec(
        name="p",
        kind="chat",
        every_s=1,
        timeout_s=1,
        stall_timeout_s=1,
        connection=Connection.REUSE,
        params=chat.Params(),
    )
    result = ProbeResult(
        target=Target(name="t", base_url="http://127.0.0.1/v1", model="m"),
        spec=spec,
        outcome=Outcome.OK,
        timing=timing_of(transcript, read_answer(transcript)),
        finished_unix_s=0,
    )
    return Observed(result, transcript)


def true_request(stamps_ms: list[int], done_ms: int) -> TrueRequest:
    return TrueRequest(
        sequence=7,
        request_id=None,
        kind=Kind.CHAT,
        status=200,
        received_ns=11 * MS,
        first_ns=stamps_ms[0] * MS,
        last_ns=stamps_ms[-1] * MS,
        done_ns=done_ms * MS,
        chunks=len(stamps_ms),
        tokens=len(stamps_ms),
        latest_timer_ns=0,
        largest_gap_ns=0,
        fault=Fault.NONE,
        connection=1,
        nth_on_connection=1,
        in_flight=1,
        longest_write_ns=0,
        stamps_ns=tuple(stamp * MS for stamp in stamps_ms),
    )


def test_each_clock_is_held_against_the_same_request():
    seen = observed(
        [
            (62, 62, 65, event("a")),
            (92, 65, 95, event("b") + event("c", '"length"')),
            (94, 94, 99, b"data: [DONE]\n\n"),
        ]
    )
    found = list(samples([seen], [true_request([61, 71, 91], 93)]))
    rounded = [(s.clock, round(s.error_s * 1e3), s.valid, round(s.reading_error_s * 1e3)) for s in found]
    assert rounded == [
        ("ttft", 2, True, 5),  # 52 by the stamp, 55 by reading, 50 in truth
        ("e2e", 2, True, 7),
        ("gap", 20, False, 20),  # two events in one read: both dated by the last
        ("gap", -20, False, -20),
    ]
    assert sending_delays_s([seen], [true_request([61], 62)]) == [0.001]


def test_a_request_without_its_counterpart_is_no_comparison():
    seen = observed([(62, 62, 65, event("a")), (94, 94, 99, b"data: [DONE]\n\n")])
    with pytest.raises(KeyError):
        list(samples([seen], []))
    with pytest.raises(ValueError, match="longer"):
        list(samples([seen], [true_request([61, 71], 93)]))


@pytest.mark.parametrize(
    ("values", "q", "expected"),
    [
        ([3, 1, 2], 0.5, 2),
        (range(1, 101), 0.99, 99),
        (range(1, 201), 0.99, 198),
        ([5], 0.99, 5),
        ([1, 9], 1, 9),
    ],
)
def test_quantiles_are_nearest_rank(values, q, expected):
    assert quantile(list(values), q) == expected


def test_there_is_no_quantile_of_nothing():
    assert math.isnan(quantile([], 0.5))


@pytest.mark.parametrize(
    ("valid", "invalid", "error_s", "block", "clock", "misses"),
    [
        (99, 1, 0.0009, False, "ttft", 0),
        (98, 2, 0.0009, False, "ttft", 1),
        (98, 2, 0.0009, False, "gap", 0),
        (80, 20, 0.0009, True, "gap", 0),
        (80, 20, 0.0009, True, "e2e", 1),
        (90, 10, -0.0011, True, "e2e", 1),
        (0, 10, 0.0009, True, "gap", 2),
    ],
)
def test_what_is_promised_is_what_is_judged(*, valid, invalid, error_s, block, clock, misses):
    seen = [Sample(clock, error_s, True, 0.0)] * valid + [Sample(clock, 1.0, False, 0.0)] * invalid
    row = accuracy.Row(accuracy.Condition(tls=False, block=block), clock, tuple(seen))
    assert len(row.misses) == misses


def lag(*counts: int) -> str:
    bounds = [*schedule.LAG.buckets, math.inf]
    lines = [
        f'{schedule.LAG.name}_bucket{{le="{bound if bound < math.inf else "+Inf"}"}} {count}'
        for bound, count in zip(bounds, counts, strict=True)
    ]
    return "\n".join([f"# TYPE {schedule.LAG.name} histogram", *lines, ""])


def scrape(probes: int, lags: str, failures: int = 0) -> Scrape:
    total, failed = probe.PROBES.name, probe.FAILED.name
    lines = [
        f"# TYPE {total.removesuffix('_total')} counter",
        f'{total}{{target="a"}} {probes}',
        f'{total}{{target="b"}} {probes}',
        f"# TYPE {failed.removesuffix('_total')} counter",
        f'{failed}{{target="a",reason="dns"}} {failures}',
        lags,
    ]
    return Scrape("\n".join(lines))


def usage(
    *, minutes: float = 10, drift_mb: float = 0, cpu_s: float = 2, descriptors: int = 40
) -> list[Usage]:
    """Eleven looks, the last minute of which differs from the first."""
    looks = [
        Usage(at_s=minutes * 6 * i, cpu_s=cpu_s * i / 10, rss_bytes=100_000_000, descriptors=40)
        for i in range(10)
    ]
    return [*looks, Usage(minutes * 60, cpu_s, int(100_000_000 + drift_mb * 1e6), descriptors)]


BUCKETS = len(schedule.LAG.buckets) + 1
QUIET = (0, 500, 900, 990, 1000, *[1000] * (BUCKETS - 5))
LATE = (0, 500, 900, 980, 985, 988, *[1000] * (BUCKETS - 6))


@pytest.mark.parametrize(
    ("lags", "failures", "used", "configured", "miss"),
    [
        (QUIET, 0, {}, 16, ""),
        (LATE, 0, {}, 16, "start lateness"),
        (QUIET, 0, {"cpu_s": 6}, 16, "CPU"),
        (QUIET, 0, {"drift_mb": 20}, 16, "RSS"),
        (QUIET, 0, {"descriptors": 50}, 16, "descriptors"),
        (QUIET, 0, {}, 20, "were due"),
        (QUIET, 1, {}, 16, "failures"),
    ],
    ids=["all kept", "late", "costly", "leaky", "descriptors", "too few", "failed"],
)
def test_each_promise_of_many_probes_can_be_missed(*, lags, failures, used, configured, miss):
    run = Run(scrape(0, lag(*[0] * BUCKETS)), scrape(500, lag(*lags), failures), usage(**used))
    misses = run.misses(configured)
    assert [miss in found for found in misses] == [True] * bool(miss)


def test_the_lateness_quantile_is_named_by_its_bucket():
    run = Run(scrape(0, lag(*[10] * BUCKETS)), scrape(500, lag(*(n + 10 for n in QUIET))), usage())
    assert run.lag_p99_s() == (0.003, 0.01)


def test_the_generated_configuration_is_one_that_the_service_takes(tmp_path: Path):
    file = tmp_path / "config.yml"
    file.write_text(configuration("http://127.0.0.1:1/v1", targets=3, probes=4))
    plans = load(file, KINDS).targets
    assert [len(plan.probes) for plan in plans] == [4, 4, 4]
    assert {spec.every_s for plan in plans for spec in plan.probes} == {10.0}
