"""The Responses API: its typed stream events and its whole answers, read as deltas."""

from exporter.model.answer import Dialect
from exporter.model.delta import Channel, Delta, named_model, read_usage
from exporter.model.json_text import dicts

_CHANNELS = {
    "response.output_text.delta": Channel.CONTENT,
    "response.refusal.delta": Channel.REFUSAL,
    "response.reasoning_text.delta": Channel.REASONING,
    "response.reasoning_summary_text.delta": Channel.REASONING,
    "response.function_call_arguments.delta": Channel.TOOL,
    "response.audio.delta": Channel.AUDIO,
}
_LAST = frozenset({"response.completed", "response.incomplete", "response.failed"})
_PARTS = {"output_text": Channel.CONTENT, "refusal": Channel.REFUSAL, "reasoning_text": Channel.REASONING}


def read_response(chunk: dict[str, object]) -> Delta:
    """Read one event of a stream, or one whole response object."""
    kind = chunk.get("type")
    if chunk.get("object") == "response":
        return _whole(chunk)
    if kind in _LAST:
        response = chunk.get("response")
        about = _whole(response) if isinstance(response, dict) else Delta()
        # What its output repeats has been streamed already: this event carries no token of its own.
        return Delta(
            finish=about.finish or _FINISH[str(kind)], usage=about.usage, is_last=True, model=about.model
        )
    channel = _CHANNELS.get(str(kind))
    piece = chunk.get("delta")
    if channel is None or not isinstance(piece, str) or not piece:
        return Delta()
    return Delta(channels=frozenset({channel}), text=piece if channel is Channel.CONTENT else "")


_FINISH = {"response.completed": "stop", "response.incomplete": "length", "response.failed": "error"}
_STATUS = {"completed": "stop", "incomplete": "length", "failed": "error", "cancelled": "abort"}


def _whole(response: dict[str, object]) -> Delta:
    channels: set[Channel] = set()
    words: list[str] = []
    for item in dicts(response.get("output")):
        if item.get("type") == "function_call":
            channels.add(Channel.TOOL)
        for part in dicts(item.get("content")):
            text = part.get("text", part.get("refusal"))
            channel = _PARTS.get(str(part.get("type")))
            if channel is not None and isinstance(text, str) and text:
                channels.add(channel)
                words.append(text if channel is Channel.CONTENT else "")
    return Delta(
        channels=frozenset(channels),
        text="".join(words),
        finish=_finish(response),
        usage=read_usage(response.get("usage")),
        model=named_model(response),
    )


def _finish(response: dict[str, object]) -> str | None:
    details = response.get("incomplete_details")
    if isinstance(details, dict) and details.get("reason") == "content_filter":
        return "content_filter"
    return _STATUS.get(str(response.get("status")))


RESPONSES = Dialect("response", read_response, "output")
