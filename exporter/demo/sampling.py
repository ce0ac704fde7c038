"""The choice of the next token."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from exporter.demo.model import Floats

# The scores are exact to about 1e-6; dividing by less would only overflow.
_GREEDY_BELOW = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How the next token is drawn.

    ``temperature`` 0 means greedy; ``top_p`` is the share of probability kept, from 0 to 1; the
    same ``seed`` gives the same text, None a new one each time.
    """

    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None


def choose(
    scores: Floats, allowed: npt.NDArray[np.bool_], sampling: Sampling, rng: np.random.Generator
) -> int:
    """Return one of the allowed tokens, given the scores of all."""
    masked = np.where(allowed, scores, np.float32(-np.inf))
    if sampling.temperature < _GREEDY_BELOW:
        return int(masked.argmax())
    scaled = (masked.astype(np.float64) - masked.max()) / sampling.temperature
    order = np.argsort(-scaled, kind="stable")
    cumulative = np.cumsum(np.exp(scaled[order]))
    kept = int(np.searchsorted(cumulative, sampling.top_p * cumulative[-1]))
    kept = min(kept, int(allowed.sum()) - 1)
    drawn = rng.random() * cumulative[kept]
    return int(order[np.searchsorted(cumulative[: kept + 1], drawn, side="right")])
