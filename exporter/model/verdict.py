"""How one chat request ended: an outcome and one line for people.

The line is made of our own words, a status and an error code; never of the answer, of a server's message
(it may echo the prompt or the key) or of a header.  The order of the questions is the rule:

1. cancelled by us;
2. nothing came back: what the wire says (a missing key is ``auth``, a proxy's refusal ``connect``, a
   connection closed before any response ``connect``, a deadline by what was pending);
3. a status other than 2xx, even if its body then broke off: the server had already said no;
4. an error object, or something that is no chat completion: the first of them in the stream;
5. ``[DONE]``: the answer is whole, whatever happened to the connection afterwards, because every client
   stops reading there;
6. broken off: by the deadline, by a byte bound or bad HTTP, or by the peer.  The last is
   ``stream_truncated`` even after a finish_reason: client libraries raise on it, and usage is lost;
7. a clean end: neither ``[DONE]`` nor a finish_reason is ``stream_truncated``; no token is ``empty``.
"""

from dataclasses import dataclass

from exporter.model.answer import Answer
from exporter.model.outcome import Outcome
from exporter.model.transcript import Fault, Transcript


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome and why; ``detail`` is empty for ok."""

    outcome: Outcome
    detail: str = ""


_BEFORE_RESPONSE = {
    Fault.NO_KEY: Outcome.AUTH,
    Fault.DNS: Outcome.DNS,
    Fault.CONNECT: Outcome.CONNECT,
    Fault.PROXY: Outcome.CONNECT,
    Fault.TLS: Outcome.TLS,
    Fault.CLOSED: Outcome.CONNECT,
    Fault.UNATTENDED: Outcome.CLIENT_OVERLOAD,
    Fault.PROTOCOL: Outcome.INVALID_RESPONSE,
    Fault.TOO_LARGE: Outcome.INVALID_RESPONSE,
}


def judge(transcript: Transcript, answer: Answer, *, wants_stream: bool, stall_timeout_s: float) -> Verdict:
    """Judge a finished exchange; ``stall_timeout_s`` only names the class of an expired deadline."""
    fault = transcript.fault
    if fault is Fault.CANCELLED:
        return Verdict(Outcome.CANCELLED, transcript.fault_detail or "cancelled")
    if transcript.status is None:
        return _no_response(transcript, fault, wants_stream=wants_stream)
    if not 200 <= transcript.status < 300:
        return _refused(transcript.status, answer)
    if (said := _said_wrong(answer)) is not None:
        return said
    if answer.done is None and fault is not None:
        return _broken_off(transcript, answer, fault, wants_stream=wants_stream, stall_s=stall_timeout_s)
    return _ended(answer, wants_stream=wants_stream)


def _no_response(transcript: Transcript, fault: Fault | None, *, wants_stream: bool) -> Verdict:
    if fault is Fault.DEADLINE:
        if transcript.sent_ns is None:
            return Verdict(Outcome.TIMEOUT_CONNECT, "deadline: no connection yet")
        return _no_answer_in_time(wants_stream=wants_stream)
    if fault is None:
        return Verdict(Outcome.INTERNAL, "the exchange has neither a response nor a fault; please report it")
    detail = transcript.fault_detail or f"no response ({fault.value})"
    return Verdict(_BEFORE_RESPONSE.get(fault, Outcome.INTERNAL), detail)


def _refused(status: int, answer: Answer) -> Verdict:
    detail = f"HTTP {status}{_coded(answer)}"
    if status in {401, 403}:
        return Verdict(Outcome.AUTH, detail)
    if status == 429:
        return Verdict(Outcome.RATE_LIMITED, detail)
    by_hundred = {3: Outcome.HTTP_3XX, 4: Outcome.HTTP_4XX, 5: Outcome.HTTP_5XX}
    return Verdict(by_hundred.get(status // 100, Outcome.INVALID_RESPONSE), detail)


def _said_wrong(answer: Answer) -> Verdict | None:
    if answer.error is not None:
        return Verdict(Outcome.STREAM_ERROR, f"the server sent an error object{_coded(answer)}")
    if answer.finish in {"error", "abort"}:
        return Verdict(Outcome.STREAM_ERROR, f"finish_reason {answer.finish}")
    if answer.malformed:
        return Verdict(Outcome.INVALID_RESPONSE, answer.malformed)
    return None


def _broken_off(
    transcript: Transcript, answer: Answer, fault: Fault, *, wants_stream: bool, stall_s: float
) -> Verdict:
    if fault is Fault.DEADLINE:
        if not wants_stream or not answer.tokens:
            return _no_answer_in_time(wants_stream=wants_stream)
        silence_s = (transcript.closed_ns - answer.tokens[-1].at_ns) / 1e9
        if silence_s > stall_s:
            return Verdict(Outcome.TIMEOUT_STALL, f"deadline: {silence_s:.3g} s without a token")
        return Verdict(Outcome.TIMEOUT_TOTAL, f"deadline: {len(answer.tokens)} token events so far")
    if fault is Fault.CLOSED:
        return Verdict(Outcome.STREAM_TRUNCATED, "the connection broke before the end of the answer")
    outcome = _BEFORE_RESPONSE.get(fault, Outcome.INTERNAL)
    return Verdict(outcome, transcript.fault_detail or f"broken off ({fault.value})")


def _no_answer_in_time(*, wants_stream: bool) -> Verdict:
    if wants_stream:
        return Verdict(Outcome.TIMEOUT_FIRST_TOKEN, "deadline: no token yet")
    return Verdict(Outcome.TIMEOUT_TOTAL, "deadline: the answer had not come whole")


def _ended(answer: Answer, *, wants_stream: bool) -> Verdict:
    if answer.is_stream is not wants_stream:
        got = "an event stream" if answer.is_stream else "a JSON body"
        return Verdict(Outcome.INVALID_RESPONSE, f"got {got}, which was not asked for")
    if wants_stream and answer.done is None and answer.finish is None:
        return Verdict(Outcome.STREAM_TRUNCATED, "the stream ended with neither [DONE] nor a finish_reason")
    if not answer.tokens:
        return Verdict(Outcome.EMPTY, "a proper end without a token")
    return Verdict(Outcome.OK)


def _coded(answer: Answer) -> str:
    return f" ({answer.error.code})" if answer.error and answer.error.code else ""
