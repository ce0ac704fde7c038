"""The JSON objects of the OpenAI wire format."""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from exporter.demo.events import Finish
from exporter.demo.model import Floats
from exporter.demo.requests import MODEL_ID

Json = Mapping[str, Any]


def usage(prompt_tokens: int, completion_tokens: int) -> Json:
    """Return the token counts of an answer."""
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatFormat:
    """Objects of ``/v1/chat/completions``; ``created`` is in Unix seconds."""

    id: str
    created: int
    usage_in_chunks: bool

    def opening(self) -> Json | None:
        """Return the first chunk of a stream, which carries the role and no text."""
        return self._chunk([_chat_choice({"role": "assistant", "content": ""}, None)])

    def delta(self, text: str) -> Json:
        """Return the chunk for some text."""
        return self._chunk([_chat_choice({"content": text}, None)])

    def closing(self, finish: Finish) -> Json:
        """Return the chunk that says why the answer ended."""
        return self._chunk([_chat_choice({}, finish)])

    def usage(self, counts: Json) -> Json:
        """Return the last chunk, which has no choices."""
        return self._chunk([], counts)

    def whole(self, text: str, finish: Finish, counts: Json) -> Json:
        """Return the answer in one piece."""
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
        head = _head(self.id, "chat.completion", self.created)
        return head | {"choices": [choice], "usage": counts}

    def _chunk(self, choices: Sequence[Json], counts: Json | None = None) -> Json:
        chunk = _head(self.id, "chat.completion.chunk", self.created) | {"choices": choices}
        return chunk | {"usage": counts} if self.usage_in_chunks else chunk


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionFormat:
    """Objects of ``/v1/completions``, which has one form for chunks and whole answers."""

    id: str
    created: int
    usage_in_chunks: bool

    def opening(self) -> Json | None:
        """Return None: these streams begin with text."""
        return None

    def delta(self, text: str) -> Json:
        """Return the chunk for some text."""
        return self._chunk([_text_choice(text, None)])

    def closing(self, finish: Finish) -> Json:
        """Return the chunk that says why the answer ended."""
        return self._chunk([_text_choice("", finish)])

    def usage(self, counts: Json) -> Json:
        """Return the last chunk, which has no choices."""
        return self._chunk([], counts)

    def whole(self, text: str, finish: Finish, counts: Json) -> Json:
        """Return the answer in one piece."""
        head = _head(self.id, "text_completion", self.created)
        return head | {"choices": [_text_choice(text, finish)], "usage": counts}

    def _chunk(self, choices: Sequence[Json], counts: Json | None = None) -> Json:
        chunk = _head(self.id, "text_completion", self.created) | {"choices": choices}
        return chunk | {"usage": counts} if self.usage_in_chunks else chunk


Format = ChatFormat | CompletionFormat


def embeddings(vectors: Floats, *, as_base64: bool, tokens: int) -> Json:
    """Return the answer of ``/v1/embeddings``; base64 is of little-endian float32."""
    data = [
        {"object": "embedding", "index": index, "embedding": _base64(row) if as_base64 else row.tolist()}
        for index, row in enumerate(vectors)
    ]
    counts = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": MODEL_ID, "usage": counts}


def model_card() -> Json:
    """Return what ``/v1/models`` says about the one model."""
    return {"id": MODEL_ID, "object": "model", "created": 0, "owned_by": "inference-exporter"}


def _head(id_: str, kind: str, created: int) -> dict[str, Any]:
    return {"id": id_, "object": kind, "created": created, "model": MODEL_ID, "system_fingerprint": MODEL_ID}


def _chat_choice(delta: Json, finish: Finish | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _text_choice(text: str, finish: Finish | None) -> Json:
    return {"index": 0, "text": text, "logprobs": None, "finish_reason": finish}


def _base64(row: Floats) -> str:
    return base64.b64encode(row.astype(np.dtype("<f4")).tobytes()).decode("ascii")
