"""What a client asks for: checked request bodies of the three POST endpoints."""

from dataclasses import dataclass

from exporter.demo import fields, vocabulary
from exporter.demo.errors import ApiError, invalid
from exporter.demo.fields import Body
from exporter.demo.sampling import Sampling

MODEL_ID = "demo-random-weights"

_COMPLETION_TOKENS = 16
_MOST_INPUTS = 256
_ONE_ANSWER = {"n": 1, "logit_bias": {}, "presence_penalty": 0, "frequency_penalty": 0}
_CHAT_ONLY = {
    "tools": [],
    "functions": [],
    "logprobs": False,
    "top_logprobs": 0,
    "response_format": {"type": "text"},
    "modalities": ["text"],
}
_COMPLETION_ONLY = {"best_of": 1, "echo": False, "logprobs": 0, "suffix": ""}


@dataclass(frozen=True, slots=True, kw_only=True)
class Generate:
    """An answer that is asked for.  ``prompt`` holds tokens; ``max_tokens`` fits the context."""

    prompt: tuple[int, ...]
    max_tokens: int
    sampling: Sampling
    stops: tuple[str, ...]
    ignore_end: bool
    stream: bool
    include_usage: bool
    """Whether a stream ends with a usage chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Embed:
    """Vectors that are asked for; ``dimensions`` is how many of each vector's numbers to keep."""

    inputs: tuple[tuple[int, ...], ...]
    dimensions: int
    base64: bool


def chat(body: Body, *, context: int) -> Generate:
    """Check a ``/v1/chat/completions`` body.  Raises ApiError."""
    _check_model(body)
    fields.refuse_unsupported(body, _ONE_ANSWER | _CHAT_ONLY)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid("messages", "Invalid 'messages': expected a list of at least one message.")
    prompt = vocabulary.encode_chat(_message(message, at) for at, message in enumerate(messages))
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        raise invalid("max_tokens", "Set either 'max_tokens' or 'max_completion_tokens', not both.")
    limit = "max_tokens" if body.get("max_completion_tokens") is None else "max_completion_tokens"
    asked = fields.integer(body, limit, low=1)
    return _generate(body, "messages", tuple(prompt), asked, context)


def completion(body: Body, *, context: int) -> Generate:
    """Check a ``/v1/completions`` body.  Raises ApiError."""
    _check_model(body)
    fields.refuse_unsupported(body, _ONE_ANSWER | _COMPLETION_ONLY)
    prompts = _texts(body, "prompt")
    if len(prompts) != 1:
        raise invalid("prompt", f"One prompt a request is supported, not {len(prompts)}.")
    asked = fields.integer(body, "max_tokens", low=1)
    return _generate(body, "prompt", prompts[0], asked or _COMPLETION_TOKENS, context)


def embeddings(body: Body, *, context: int, width: int) -> Embed:
    """Check a ``/v1/embeddings`` body.  Raises ApiError."""
    _check_model(body)
    inputs = _texts(body, "input")
    if len(inputs) > _MOST_INPUTS:
        raise invalid("input", f"At most {_MOST_INPUTS} inputs a request, not {len(inputs)}.")
    for tokens in inputs:
        if len(tokens) > context:
            raise _too_long("input", context, f"an input has {len(tokens)} tokens")
    encoding = body.get("encoding_format") or "float"
    if encoding not in {"float", "base64"}:
        raise invalid("encoding_format", "Invalid 'encoding_format': expected 'float' or 'base64'.")
    dimensions = fields.integer(body, "dimensions", low=1, high=width)
    return Embed(inputs=inputs, dimensions=dimensions or width, base64=encoding == "base64")


def check_known_model(name: str) -> None:
    """Raise ApiError 404 for any model but the one there is."""
    if name != MODEL_ID:
        raise ApiError(
            404,
            f"The model '{name}' does not exist; the only one here is '{MODEL_ID}'.",
            param="model",
            code="model_not_found",
        )


def _check_model(body: Body) -> None:
    check_known_model(fields.text(body, "model"))


def _generate(
    body: Body, prompt_field: str, prompt: tuple[int, ...], asked: int | None, context: int
) -> Generate:
    stream = fields.flag(body, "stream")
    if not stream and body.get("stream_options") is not None:
        raise invalid("stream_options", "'stream_options' is only allowed when 'stream' is true.")
    room = context - len(prompt)
    if room < (asked or 1):
        wanted = f"{len(prompt)} in the {prompt_field}, {asked or 1} in the completion"
        raise _too_long(
            prompt_field, context, f"you requested {len(prompt) + (asked or 1)} tokens ({wanted})"
        )
    return Generate(
        prompt=prompt,
        max_tokens=asked or room,
        sampling=Sampling(
            temperature=fields.number(body, "temperature", low=0, high=2, default=1),
            top_p=fields.number(body, "top_p", low=0, high=1, default=1),
            seed=_seed(body),
        ),
        stops=fields.stops(body),
        ignore_end=fields.flag(body, "ignore_eos"),
        stream=stream,
        include_usage=fields.flag(fields.table(body, "stream_options"), "include_usage"),
    )


def _seed(body: Body) -> int | None:
    seed = fields.integer(body, "seed", low=-(2**63), high=2**63 - 1)
    return None if seed is None else seed % 2**64


def _message(message: object, at: int) -> tuple[str, str]:
    where = f"messages[{at}]"
    if not isinstance(message, dict):
        raise invalid(where, f"Invalid '{where}': expected an object with 'role' and 'content'.")
    role = message.get("role")
    if role not in vocabulary.MARKERS:
        known = ", ".join(sorted(vocabulary.MARKERS))
        raise invalid(f"{where}.role", f"Invalid '{where}.role': expected one of {known}.")
    return role, _content(message.get("content"), f"{where}.content")


def _content(content: object, where: str) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    joined = "".join(one for one in texts if isinstance(one, str))
    if len(texts) != len(parts) or not all(isinstance(one, str) for one in texts):
        raise invalid(where, f"Invalid '{where}': expected a string or a list of text parts.")
    return joined


def _texts(body: Body, field: str) -> tuple[tuple[int, ...], ...]:
    """Return the tokens of each text; they come as a string, tokens, or a list of either."""
    value = body.get(field)
    if isinstance(value, str) or (isinstance(value, list) and value and isinstance(value[0], int)):
        value = [value]
    if not isinstance(value, list) or not value:
        raise invalid(field, f"Invalid '{field}': expected a string or a list of at least one.")
    return tuple(_tokens(one, field) for one in value)


def _tokens(value: object, field: str) -> tuple[int, ...]:
    if isinstance(value, str) and value:
        return tuple(vocabulary.encode_prompt(value))
    if (
        isinstance(value, list)
        and value
        and all(type(one) is int and 0 <= one < vocabulary.SIZE for one in value)
    ):
        return tuple(value)
    raise invalid(
        field, f"Invalid '{field}': expected non-empty strings, or tokens from 0 to {vocabulary.SIZE - 1}."
    )


def _too_long(field: str, context: int, what: str) -> ApiError:
    message = f"This model's maximum context length is {context} tokens (one a byte). However, {what}."
    return invalid(field, f"{message} Please reduce the length.", "context_length_exceeded")
