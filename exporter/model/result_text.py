"""A probe's result as plain text for people: what ``/probe?debug=true`` and the history show.

Made of numbers, our own words and closed sets: never of a key, a prompt, an answer or a header's text.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from exporter.model.outcome import Outcome
from exporter.model.remedy import REMEDIES
from exporter.model.results import ProbeResult
from exporter.model.waterfall import bars, drawn, milliseconds

_WIDTH = 48


def result_text(result: ProbeResult) -> str:
    """Return the whole report, ending in one newline."""
    return "\n".join(_lines(result)) + "\n"


def facts(result: ProbeResult) -> Iterator[tuple[str, str]]:
    """Yield name and text of whatever is known beside the clocks."""
    timing, tokens, connection = result.timing, result.tokens, result.connection
    if timing.tpot is not None:
        yield "time per token", milliseconds(timing.tpot.value_s)
    if timing.gaps:
        longest = max(gap.value_s for gap in timing.gaps)
        yield "gaps", f"{len(timing.gaps)}, the longest {milliseconds(longest)}"
    if tokens.output is not None:
        by = "" if tokens.output_from is None else f", counted by {tokens.output_from}"
        cached = "" if tokens.cached is None else f" ({tokens.cached} cached)"
        yield "tokens", f"{'?' if tokens.input is None else tokens.input} in{cached}, {tokens.output} out{by}"
    if connection.peer is not None:
        kept = "kept" if result.reused else "new"
        about = (kept, connection.tls_version, connection.http_version and f"HTTP/{connection.http_version}")
        yield "connection", ", ".join((connection.peer, *(text for text in about if text)))
    if result.certificate_expiry_unix_s is not None:
        days = (result.certificate_expiry_unix_s - result.finished_unix_s) / 86400
        yield "certificate", f"expires in {days:,.0f} days"
    if result.stamps is not None:
        late = f", read {milliseconds(max(result.lateness_s))} late at most" if result.lateness_s else ""
        yield "stamps", f"{result.stamps}{late}"
    yield from _from_server(result)


def _from_server(result: ProbeResult) -> Iterator[tuple[str, str]]:
    server, limits = result.server, result.rate_limits
    said = [
        f"{name} {milliseconds(value)}"
        for name, value in (
            ("total", server.total_s),
            ("queue", server.queue_s),
            ("prefill", server.prefill_s),
            ("decode", server.decode_s),
            ("overhead", server.overhead_s),
        )
        if value is not None
    ]
    if said:
        yield "server says", ", ".join(said)
    for name, limit in (("requests", limits.requests), ("tokens", limits.tokens)):
        if limit.remaining is not None:
            of = "" if limit.limit is None else f" of {limit.limit:,.0f}"
            yield f"{name} left", f"{limit.remaining:,.0f}{of}"
    if limits.retry_after_s is not None:
        yield "retry after", f"{limits.retry_after_s:g} s"
    if result.answered_by is not None:
        yield "model hash", str(result.answered_by)


def _lines(result: ProbeResult) -> Iterator[str]:
    at = datetime.fromtimestamp(result.finished_unix_s, UTC).isoformat(timespec="seconds")
    yield f"{result.target.name}/{result.spec.name} ({result.spec.kind}) {result.outcome} at {at}"
    if result.detail:
        yield result.detail
    yield ""
    if result.phases is not None:
        for bar in bars(result):
            line = drawn(bar, result.phases.total_s, _WIDTH)
            yield f"{bar.name:>8} |{line}| {milliseconds(bar.length_s):>10}"
        yield f"{'total':>8}  {'':{_WIDTH}}  {milliseconds(result.phases.total_s):>10}"
        yield ""
    for name, text in facts(result):
        yield f"{name}: {text}"
    remedy = REMEDIES.get(result.outcome)
    if remedy is not None and result.outcome is not Outcome.OK:
        yield ""
        yield f"Usual cause: {remedy.cause}"
        yield from (f"- {step}" for step in remedy.steps)
