"""What a server says about where its own time went, beside what we measure.

Sources: llama.cpp's ``timings`` object, Groq's usage (``queue_time``, ``prompt_time``, ``completion_time``,
``total_time``), Text Generation Inference's ``x-*-time`` headers, ``openai-processing-ms``, Envoy's
``x-envoy-upstream-service-time`` (Azure), LiteLLM's ``x-litellm-*-duration-ms``.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields

from exporter.model.json_text import seconds
from exporter.model.transcript import Transcript

_MS = 0.001


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTiming:
    """Durations in seconds, in the server's own words; None where it says nothing."""

    total_s: float | None = None
    queue_s: float | None = None
    prefill_s: float | None = None
    decode_s: float | None = None
    overhead_s: float | None = None
    """What a gateway adds to the model server behind it."""

    @staticmethod
    def merged(timings: "Iterable[ServerTiming]") -> "ServerTiming":
        """Return one timing with the last word said on each duration."""
        last: dict[str, float] = {}
        for timing in timings:
            if timing is not _NOTHING:
                for field in fields(ServerTiming):
                    value = getattr(timing, field.name)
                    if value is not None:
                        last[field.name] = value
        return ServerTiming(**last) if last else _NOTHING


_NOTHING = ServerTiming()


def timing_in(body: dict[str, object]) -> ServerTiming:
    """Read what one JSON object of an answer says."""
    usage, timings = body.get("usage"), body.get("timings")
    if isinstance(timings, dict):
        return ServerTiming(
            prefill_s=seconds(timings.get("prompt_ms"), _MS),
            decode_s=seconds(timings.get("predicted_ms"), _MS),
        )
    if isinstance(usage, dict) and "total_time" in usage:
        return ServerTiming(
            total_s=seconds(usage["total_time"], 1),
            queue_s=seconds(usage.get("queue_time"), 1),
            prefill_s=seconds(usage.get("prompt_time"), 1),
            decode_s=seconds(usage.get("completion_time"), 1),
        )
    return _NOTHING


_TOTAL = (
    "openai-processing-ms",
    "x-total-time",
    "x-litellm-response-duration-ms",
    "x-envoy-upstream-service-time",
)
"""Headers for the whole request, in milliseconds; the first that is there counts."""


def timing_in_headers(transcript: Transcript) -> ServerTiming:
    """Read what the response headers say; all of the known ones are in milliseconds."""
    total = (_milliseconds(transcript, name) for name in _TOTAL)
    return ServerTiming(
        total_s=next((value for value in total if value is not None), None),
        queue_s=_milliseconds(transcript, "x-queue-time"),
        overhead_s=_milliseconds(transcript, "x-litellm-overhead-duration-ms"),
    )


def _milliseconds(transcript: Transcript, name: str) -> float | None:
    try:
        return seconds(float(transcript.header(name) or ""), _MS)
    except ValueError:
        return None
