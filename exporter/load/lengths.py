"""Synthetic prompts whose lengths come from a distribution, with a share of a common prefix."""

import random
import re

from exporter.model.load_plan import Prompt

POOL = 256
"""Different prompts of a run; a server that caches prefixes sees each of them about so many times."""
_WORDS = ("time", "house", "river", "light", "stone", "paper", "green", "north", "seven", "table")
_SPREAD = re.compile(r"([0-9]+)(?:\+-([0-9]+))?")


def drawn_prompts(
    input_tokens: str, output_tokens: str, *, shared_prefix: float, seed: int
) -> tuple[Prompt, ...]:
    """Return a pool of prompts; lengths are ``MEAN`` or ``MEAN+-DEVIATION`` (normal, at least 1), in tokens.

    A word is about a token.  ``shared_prefix`` in [0, 1] is the share of the mean input that is the same in
    all of them; without it each begins with a word of its own, so that no prefix cache can help.
    """
    if not 0 <= shared_prefix <= 1:
        raise ValueError(f"the shared prefix is a share between 0 and 1, not {shared_prefix:g}")
    (mean, deviation), (answer, answer_deviation) = _spread(input_tokens), _spread(output_tokens)
    rng = random.Random(seed)  # noqa: S311 - lengths, not secrets
    common = [rng.choice(_WORDS) for _ in range(round(mean * shared_prefix))]
    prompts = []
    for index in range(POOL):
        length = max(1, round(rng.gauss(mean, deviation)))
        own = [str(index), *(rng.choice(_WORDS) for _ in range(length))][: max(1, length - len(common))]
        text = " ".join([*common, *own])
        prompts.append(Prompt(text=text, max_tokens=max(1, round(rng.gauss(answer, answer_deviation)))))
    return tuple(prompts)


def _spread(text: str) -> tuple[int, int]:
    match = _SPREAD.fullmatch(text)
    if match is None or int(match[1]) < 1:
        raise ValueError(f"{text}: write a length in tokens, such as 512 or 512+-128")
    return int(match[1]), int(match[2] or 0)
