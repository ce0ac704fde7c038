"""How many tokens a text will be, before any server has counted them."""

import math

CHARACTERS_PER_TOKEN = 4
"""Usual for English text; only the server's tokenizer knows."""
TEMPLATE_TOKENS = 10
"""What a chat template adds around a short prompt, roughly."""


def estimated_tokens(characters: int) -> int:
    """Return the input tokens of a request with so many characters of text; 0 for none."""
    return math.ceil(characters / CHARACTERS_PER_TOKEN) + TEMPLATE_TOKENS if characters else 0
