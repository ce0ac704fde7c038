"""From stamps to clocks: time to first token, gaps, time per token, end to end, phases, token counts.

A stamp is the arrival of a read's last segment, so a true time lies in [at - bound, at] and every duration
carries how far it may be off to either side.  What is before a fault is measured all the same; whether a
clock may be observed is the outcome's business.  No token: no latency at all.
"""

from itertools import pairwise

from exporter.model.answer import Answer, TokenEvent
from exporter.model.clocks import Measured, Phases, Timing, Tokens, TokensFrom
from exporter.model.delta import Channel
from exporter.model.transcript import Transcript

_NS = 1e9
_CONTENT = frozenset({Channel.CONTENT, Channel.REFUSAL, Channel.AUDIO})


def timing_of(transcript: Transcript, answer: Answer) -> Timing:
    """Return the clocks of one request; a body that is no stream gives end to end only."""
    sent_ns = transcript.sent_ns
    if sent_ns is None or not answer.tokens:
        return Timing()
    sent = (sent_ns, max(sent_ns, transcript.sent_by_ns or sent_ns))
    e2e = _end_to_end(transcript, answer, sent)
    if not answer.is_stream:
        return Timing(e2e=e2e)
    content = next((token for token in answer.tokens if token.channels & _CONTENT), None)
    return Timing(
        ttft=_since(sent, answer.tokens[0]),
        ttfc=_since(sent, content) if content else None,
        tpot=_per_token(answer),
        e2e=e2e,
        gaps=tuple(_between(a, b) for a, b in pairwise(answer.tokens)),
    )


def tokens_of(answer: Answer) -> Tokens:
    """Return the token counts and who counted them.

    The server's usage goes first.  Where it says nothing, or 0 although tokens came, a stream's output is
    taken as one token for each token-bearing event: a lower bound where a server packs several.
    """
    usage = answer.usage
    counted = usage.output if usage else None
    source: TokensFrom | None = TokensFrom.USAGE
    if not counted and answer.is_stream and answer.tokens:
        counted, source = len(answer.tokens), TokensFrom.CHUNKS
    return Tokens(
        input=usage.input if usage else None,
        output=counted,
        reasoning=usage.reasoning if usage else None,
        cached=usage.cached if usage else None,
        output_from=source if counted is not None else None,
    )


def phases_of(transcript: Transcript) -> Phases:
    """Return where the time went, each phase from the end of the one before, so that they sum to the total.

    A phase that was pending when the exchange broke off gets the rest of the time; later ones are None.
    The end is the arrival of the message's last byte, else the moment of giving up.
    """
    marks = (
        transcript.resolved_ns,
        transcript.connected_ns,
        transcript.tls_done_ns,
        transcript.send_done_ns,
        transcript.headers_ns,
        transcript.complete_ns,
    )
    end_ns = transcript.closed_ns if transcript.complete_ns is None else transcript.complete_ns
    last = max((i for i, mark in enumerate(marks) if mark is not None), default=-1)
    pending = 3 if _is_sending(transcript) else last + 1
    spent: list[float | None] = []
    at_ns = transcript.started_ns
    for i, mark in enumerate(marks):
        stop_ns = end_ns if i == pending else mark
        spent.append(None if stop_ns is None else max(0, stop_ns - at_ns) / _NS)
        at_ns = at_ns if stop_ns is None else max(at_ns, stop_ns)
    dns, connect, tls, send, wait, receive = spent
    return Phases(
        dns_s=dns,
        connect_s=connect,
        tls_s=tls,
        send_s=send,
        wait_s=wait,
        receive_s=receive,
        total_s=max(0, end_ns - transcript.started_ns) / _NS,
    )


def _is_sending(transcript: Transcript) -> bool:
    """Tell a half-written request from a handshake under way: a plain connection has no TLS mark."""
    marks = (transcript.send_done_ns, transcript.headers_ns)
    return transcript.sent_ns is not None and marks == (None, None)


def _end_to_end(transcript: Transcript, answer: Answer, sent: tuple[int, int]) -> Measured | None:
    if answer.done is not None:
        return _measured(sent, sent[0], (answer.done.earliest_ns, answer.done.at_ns))
    if transcript.complete_ns is not None:
        return _measured(sent, sent[0], (transcript.complete_ns, transcript.complete_ns))
    return None


def _per_token(answer: Answer) -> Measured | None:
    """(last - first) / (streamed tokens - tokens in the first token-bearing event).

    Reasoning that the server counts but never streams took place before the first event: it is not among
    the streamed tokens.  Tokens in the first event are exact where the server sends usage on each chunk;
    else all events are taken to be alike: output tokens / token-bearing events, rounded, at least 1.
    """
    first, last = answer.tokens[0], answer.tokens[-1]
    tokens = tokens_of(answer)
    if first is last or tokens.output is None:
        return None
    if first.output_so_far and last.output_so_far and first.output_so_far < last.output_so_far:
        after_first = max(tokens.output, last.output_so_far) - first.output_so_far
    else:
        streamed = tokens.output
        if not any(Channel.REASONING in token.channels for token in answer.tokens):
            streamed -= tokens.reasoning or 0
        after_first = streamed - max(1, round(streamed / len(answer.tokens)))
    if after_first < 1:
        return None
    span = _between(first, last)
    return Measured(span.value_s / after_first, span.below_s / after_first, span.above_s / after_first)


def _since(sent: tuple[int, int], token: TokenEvent) -> Measured:
    return _measured(sent, sent[0], (token.earliest_ns, token.at_ns))


def _between(first: TokenEvent, second: TokenEvent) -> Measured:
    begin = (first.earliest_ns, first.at_ns)
    return _measured(begin, first.at_ns, (second.earliest_ns, second.at_ns))


def _measured(begin: tuple[int, int], begin_ns: int, end: tuple[int, int]) -> Measured:
    """Return the time from ``begin_ns`` to the end of the span ``end``, never below 0.

    The true begin lies in the span ``begin``, the true end in the span ``end``.
    """
    value_ns = max(0, end[1] - begin_ns)
    shortest_ns = max(0, end[0] - begin[1])
    longest_ns = max(0, end[1] - begin[0])
    return Measured(value_ns / _NS, max(0, value_ns - shortest_ns) / _NS, max(0, longest_ns - value_ns) / _NS)
