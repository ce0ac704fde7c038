"""One loaded request read and judged: the plain shape fast, everything else by the probes' own reader.

A load worker reads 100,000 events a second on one core, and parsing each as JSON would make the client the
limit.  A stream is *plain* when it ended with ``[DONE]``, every event is one ``data:`` line with a JSON
object, and nothing in it needs more than a look at the quoted text fields.  Within a JSON string a quote is
escaped, so ``"content":"`` can only be the key.  Everything that is not certainly plain goes the exact way.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from exporter.model.answer import Answer, read_answer
from exporter.model.clocks import Measured
from exporter.model.load_plan import Api
from exporter.model.outcome import Outcome
from exporter.model.timeline import timing_of, tokens_of
from exporter.model.transcript import Transcript
from exporter.model.verdict import judge

Read = tuple[int, int, bytes]
"""Arrival of a read's last byte, its earliest, and the body bytes that it brought."""
_NOT_PLAIN = (
    *(b'"error"', b"\r", b"\n:", b"\nevent", b"\nid:", b"\nretry", b'"tool_calls":[', b'"tool_calls": ['),
    *(
        b'"function_call":{',
        b'"function_call": {',
        b'"refusal":"',
        b'"refusal": "',
        b'"audio":{',
        b'"content":[',
    ),
    *(b'"content": [', b'"reasoning_details"', b'"finish_reason":"error"', b'"finish_reason":"abort"'),
)
_TOKEN = re.compile(rb'"(?:content|text|reasoning_content|reasoning)": ?"[^"]').search
_COUNTS = re.compile(rb'"(prompt_tokens|completion_tokens|reasoning_tokens)": ?(\d+)').findall


@dataclass(slots=True)
class Seen:
    """One request as it counts; clocks in nanoseconds, each with its error bound, None where it has none."""

    outcome: Outcome
    ttft: tuple[int, int] | None = None
    tpot: tuple[int, int] | None = None
    e2e: tuple[int, int] | None = None
    gaps: Sequence[tuple[int, int]] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    from_usage: bool = False


def read_plain_stream(reads: Sequence[Read], sent_ns: int) -> Seen | None:
    """Read a whole stream of status 200; None when it is not certainly plain."""
    whole = b"".join([data for _, _, data in reads])
    if not whole.endswith(b"\n\n") or any(mark in whole for mark in _NOT_PLAIN):
        return None
    tokens: list[tuple[int, int]] = []
    index, end, position = -1, 0, 0
    at_ns = earliest_ns = 0
    events = whole.split(b"\n\n")
    for event in events:
        if not event.startswith(b"data: {"):
            if event == b"data: [DONE]" and position + len(event) + 2 == len(whole):
                break
            return None
        if not event.endswith(b"}"):
            return None
        position += len(event) + 2
        while end < position:
            index += 1
            at_ns, earliest_ns, data = reads[index]
            end += len(data)
        if _TOKEN(event):
            tokens.append((at_ns, at_ns - earliest_ns if end > position else 0))
    else:
        return None
    return _plain(tokens, reads[-1][0], sent_ns, events) if tokens else None


def _plain(tokens: list[tuple[int, int]], done_ns: int, sent_ns: int, events: list[bytes]) -> Seen | None:
    usage = [event for event in events if b'"usage":{' in event or b'"usage": {' in event]
    counts = {name: int(count) for name, count in _COUNTS(usage[0])} if usage else {}
    if len(usage) > 1 or counts.get(b"reasoning_tokens"):
        return None
    said = counts.get(b"completion_tokens", 0)
    output = said or len(tokens)
    (first_ns, first_bound), (last_ns, last_bound) = tokens[0], tokens[-1]
    after_first = output - max(1, round(output / len(tokens)))
    tpot = None
    if after_first > 0 and len(tokens) > 1:
        tpot = ((last_ns - first_ns) // after_first, max(first_bound, last_bound) // after_first)
    gaps = [
        (at_ns - before_ns, max(bound, before_bound))
        for (before_ns, before_bound), (at_ns, bound) in pairwise(tokens)
    ]
    return Seen(
        outcome=Outcome.OK,
        ttft=(first_ns - sent_ns, first_bound),
        tpot=tpot,
        e2e=(done_ns - sent_ns, 0),
        gaps=gaps,
        input_tokens=counts.get(b"prompt_tokens", 0),
        output_tokens=output,
        from_usage=said > 0,
    )


def read_exactly(transcript: Transcript, api: Api, *, stream: bool, stall_s: float) -> Seen:
    """Read and judge any request as a probe would."""
    if api is Api.EMBEDDINGS:
        return _embeddings(transcript)
    answer = read_answer(transcript)
    outcome = judge(transcript, answer, wants_stream=stream, stall_timeout_s=stall_s).outcome
    timing = timing_of(transcript, answer)
    tokens = tokens_of(answer)
    return Seen(
        outcome=outcome,
        ttft=_nanoseconds(timing.ttft),
        tpot=_nanoseconds(timing.tpot),
        e2e=_nanoseconds(timing.e2e),
        gaps=tuple((round(g.value_s * 1e9), round(g.bound_s * 1e9)) for g in timing.gaps),
        input_tokens=tokens.input or 0,
        output_tokens=tokens.output or 0,
        from_usage=answer.usage is not None and bool(answer.usage.output),
    )


def _embeddings(transcript: Transcript) -> Seen:
    whole = transcript.fault is None and transcript.complete_ns is not None
    found = _json(transcript.content) if whole and transcript.status == 200 else None
    if isinstance(found, dict) and not found.get("error") and _has_vectors(found.get("data")):
        sent_ns, end_ns = transcript.sent_ns or 0, transcript.complete_ns or 0
        usage = found.get("usage")
        counted = usage.get("prompt_tokens") if isinstance(usage, dict) else 0
        said = counted if isinstance(counted, int) else 0
        return Seen(Outcome.OK, e2e=(end_ns - sent_ns, 0), input_tokens=said, from_usage=said > 0)
    answer = Answer() if found is None else read_answer(transcript)
    if isinstance(found, dict) and answer.error is None:
        return Seen(Outcome.INVALID_RESPONSE)
    if found is None and transcript.fault is None and transcript.status == 200:
        return Seen(Outcome.INVALID_RESPONSE)
    return Seen(judge(transcript, answer, wants_stream=False, stall_timeout_s=0.0).outcome)


def _has_vectors(data: object) -> bool:
    return (
        isinstance(data, list)
        and bool(data)
        and all(isinstance(item, dict) and bool(item.get("embedding")) for item in data)
    )


def _json(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _nanoseconds(measured: Measured | None) -> tuple[int, int] | None:
    if measured is None:
        return None
    return round(measured.value_s * 1e9), round(measured.bound_s * 1e9)
