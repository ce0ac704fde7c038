"""What is sent as the prompt: one of several, with a nonce in front, or as long as the server says it is."""

from dataclasses import dataclass, field
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from exporter.model.clocks import Tokens
from exporter.model.target import ProbeSpec, Target

_Text = Annotated[str, Field(min_length=1)]
_WORD = " hello"
"""One token in the tokenizers of the GPT, Llama, Qwen and Mistral families."""
_MAX_WORDS = 1_000_000
_TELLING_WORDS = 4
"""Two prompts that differ by fewer words say more about rounding than about the slope."""


class Prompting(BaseModel):
    """Parameters about the prompt that the text kinds share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: _Text = "Count from 1 to 40."
    prompts: Annotated[tuple[_Text, ...], Field(min_length=2, max_length=100)] | None = None
    """Several prompts in place of ``prompt``: each slot of the schedule takes the next."""
    nonce: bool = False
    """Put a random word in front, so that no prefix cache can help; without it, ``cached`` tokens tell
    how much one did."""
    input_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """Fill the prompt up to this many input tokens, as the server's own ``usage`` counts them."""

    @model_validator(mode="after")
    def _check_prompt(self) -> Self:
        if self.prompts is not None and "prompt" in self.model_fields_set:
            raise ValueError("prompt and prompts are both given; remove one of the two")
        return self


@dataclass(slots=True)
class _Fit:
    """A straight line from words to tokens, through what was last seen."""

    words: int
    overhead: float = 0.0
    per_word: float = 1.0
    seen: tuple[int, int] | None = None


@dataclass(slots=True)
class Lengths:
    """Learns from ``usage`` how many words make the wanted number of input tokens, for each probe."""

    _fits: dict[tuple[str, str], _Fit] = field(default_factory=dict)

    def words(self, target: Target, spec: ProbeSpec, wanted: int) -> int:
        """Return how many words to add for ``wanted`` input tokens, by what is known so far."""
        fit = self._fits.setdefault((target.name, spec.name), _Fit(words=wanted))
        fit.words = min(_MAX_WORDS, max(0, round((wanted - fit.overhead) / fit.per_word)))
        return fit.words

    def learn(self, target: Target, spec: ProbeSpec, tokens: Tokens) -> None:
        """Take note of what the server counted for the last prompt; without ``usage`` nothing is learnt."""
        fit = self._fits.get((target.name, spec.name))
        if fit is None or not tokens.input:
            return
        if fit.seen is None:
            fit.per_word = tokens.input / fit.words if fit.words else 1.0
        elif abs(fit.words - fit.seen[0]) >= _TELLING_WORDS:
            slope = (tokens.input - fit.seen[1]) / (fit.words - fit.seen[0])
            fit.per_word = slope if slope > 0 else fit.per_word
        fit.overhead = tokens.input - fit.words * fit.per_word
        fit.seen = (fit.words, tokens.input)


def prompt_of(
    params: Prompting, target: Target, spec: ProbeSpec, *, unix_s: float, nonce: str, lengths: Lengths
) -> str:
    """Return the prompt for the request that is sent now."""
    prompt = params.prompt
    if params.prompts is not None:
        prompt = params.prompts[round(unix_s / spec.every_s) % len(params.prompts)]
    if params.nonce:
        prompt = f"[{nonce}] {prompt}"
    if params.input_tokens is not None:
        prompt += _WORD * lengths.words(target, spec, params.input_tokens)
    return prompt
