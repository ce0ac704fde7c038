"""Probe kind ``transcription``: a short generated tone as WAV, which must come back as a JSON text."""

import math
import struct
from functools import lru_cache
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from exporter.model.clocks import Clock
from exporter.model.document import Wrong
from exporter.model.request import Endpoint, Request, Upload
from exporter.model.results import ProbeResult
from exporter.model.target import ProbeSpec, Target
from exporter.probes import fetch
from exporter.probes.base import Doors, ProbeKind, mine

_RATE_HZ = 16_000
_TONE_HZ = 440.0
_LOUDNESS = 8000


class Params(BaseModel):
    """What is sent.  The text of a tone is whatever the model makes of it, and may be empty."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: Annotated[float, Field(ge=0.1, le=60)] = 1.0
    """Length of the tone."""
    language: Annotated[str, Field(pattern="^[a-z]{2,3}$")] | None = None
    """ISO 639 code, such as en."""


@lru_cache(maxsize=8)
def tone(seconds: float) -> bytes:
    """Return a sine tone as WAV: 16 kHz, one channel, 16 bits."""
    count = round(seconds * _RATE_HZ)
    step = 2 * math.pi * _TONE_HZ / _RATE_HZ
    samples = struct.pack(f"<{count}h", *(round(_LOUDNESS * math.sin(step * i)) for i in range(count)))
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, _RATE_HZ, _RATE_HZ * 2, 2, 16)
    data = struct.pack("<4sI", b"data", len(samples)) + samples
    return struct.pack("<4sI4s", b"RIFF", 4 + len(form) + len(data), b"WAVE") + form + data


def check(body: dict[str, object]) -> Wrong | None:
    """Return what is wrong with an answer."""
    return None if isinstance(body.get("text"), str) else Wrong("the JSON body has no text")


def clocks_of(params: BaseModel) -> frozenset[Clock]:
    """Return the clocks: end to end alone."""
    mine(params, Params, "transcription")
    return fetch.CLOCKS


async def run(target: Target, spec: ProbeSpec, doors: Doors) -> ProbeResult:
    """Send the tone once, never again."""
    params = mine(spec.params, Params, "transcription")
    body: dict[str, object] = {"model": target.model, "response_format": "json"}
    if params.language is not None:
        body["language"] = params.language
    upload = Upload("tone.wav", "audio/wav", tone(params.seconds))
    request = Request(endpoint=Endpoint.TRANSCRIPTION, body=body, upload=upload)
    return await fetch.document(target, spec, doors, request, check)


KIND = ProbeKind(name="transcription", params=Params, clocks=clocks_of, run=run)
