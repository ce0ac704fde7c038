"""A conversation with a target: questions, streamed answers, and the clocks of each."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from exporter.adapters.openai_api import OpenAiApi
from exporter.model.answer import read_answer
from exporter.model.budget import spent_on
from exporter.model.delta import read_delta
from exporter.model.json_text import parsed
from exporter.model.outcome import Outcome
from exporter.model.remedy import REMEDIES
from exporter.model.request import Endpoint, Request
from exporter.model.results import ProbeResult
from exporter.model.sse import Splitter
from exporter.model.target import Connection, ProbeSpec, Target
from exporter.model.transcript import Piece
from exporter.model.verdict import judge
from exporter.model.waterfall import milliseconds
from exporter.probes.base import result_of

STALL_S = 60.0


@dataclass(slots=True)
class Conversation:
    """The messages so far.  An answer that was stopped stays in as far as it came."""

    target: Target
    max_tokens: int
    timeout_s: float
    show: Callable[[str], None]
    """Told each stretch of an answer's text as it comes."""
    messages: list[dict[str, object]] = field(default_factory=list)

    async def ask(self, api: OpenAiApi, question: str) -> ProbeResult:
        """Send the question with all that was said before, and return how it went.

        A question that got no answer is taken back.
        """
        self.messages.append({"role": "user", "content": question})
        heard: list[str] = []

        def hear(text: str) -> None:
            heard.append(text)
            self.show(text)

        spec = self._spec()
        body: dict[str, object] = {
            "model": self.target.model,
            "messages": list(self.messages),
            "max_tokens": self.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        try:
            request = Request(endpoint=Endpoint.CHAT, body=body)
            transcript = await api.send(self.target, spec, request, _Listener(hear).hear)
        finally:
            if heard:
                self.messages.append({"role": "assistant", "content": "".join(heard)})
            else:
                self.messages.pop()
        answer = read_answer(transcript)
        verdict = judge(transcript, answer, wants_stream=True, stall_timeout_s=spec.stall_timeout_s)
        return result_of(self.target, spec, transcript, answer, verdict, finished_unix_s=time.time())

    def _spec(self) -> ProbeSpec:
        return ProbeSpec(
            name="ask",
            kind="chat",
            every_s=1.0,
            timeout_s=self.timeout_s,
            stall_timeout_s=STALL_S,
            connection=Connection.REUSE,
            params=None,
        )


class _Listener:
    """Reads a stream's text out of the pieces as they come; errors show in the transcript."""

    def __init__(self, show: Callable[[str], None]) -> None:
        self._splitter = Splitter()
        self._show = show

    def hear(self, piece: Piece) -> None:
        for event in self._splitter.feed(piece):
            chunk = parsed(event.data)
            if isinstance(chunk, dict) and (text := read_delta(chunk).text):
                self._show(text)


def account(result: ProbeResult) -> str:
    """Return one line: time to first token, tokens a second, tokens, cost; or why there was no answer."""
    if result.outcome is not Outcome.OK:
        remedy = REMEDIES[result.outcome]
        return f"{result.outcome}: {result.detail}\n{remedy.cause}\n" + "\n".join(
            f"- {s}" for s in remedy.steps
        )
    timing, tokens = result.timing, result.tokens
    parts = []
    if timing.ttft is not None:
        parts.append(f"TTFT {milliseconds(timing.ttft.value_s)}")
    if timing.tpot is not None and timing.tpot.value_s > 0:
        parts.append(f"{1 / timing.tpot.value_s:,.1f} tokens/s")
    if tokens.output is not None:
        parts.append(f"{'?' if tokens.input is None else tokens.input} in, {tokens.output} out")
    prices = result.target.prices
    if prices is not None:
        parts.append(f"{spent_on(tokens, prices).money:.6f} {prices.currency}")
    return ", ".join(parts)
