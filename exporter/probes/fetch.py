"""What the kinds that get one JSON document have in common: one request that is checked."""

from collections.abc import Callable

from exporter.model.clocks import Clock
from exporter.model.document import Wrong, read_document
from exporter.model.request import PlainRequest, Request
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.model.verdict import judge
from exporter.probes.base import Doors, off_the_loop, result_of

CLOCKS = frozenset({Clock.E2E})


async def document(
    target: Target,
    spec: ProbeSpec,
    doors: Doors,
    request: Request | PlainRequest,
    check: Callable[[dict[str, object]], Wrong | None],
) -> ProbeResult:
    """Send the request once, never again; the document is good when ``check`` finds nothing wrong."""
    transcript = await doors.api.send(target, spec, request)
    finished_unix_s = doors.unix_s()

    def read() -> ProbeResult:
        answer = read_document(transcript, check)
        verdict = judge(transcript, answer, wants_stream=False, stall_timeout_s=spec.stall_timeout_s)
        return result_of(target, spec, transcript, answer, verdict, finished_unix_s=finished_unix_s)

    return await off_the_loop(transcript, read)
