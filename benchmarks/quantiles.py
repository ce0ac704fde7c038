"""Order statistics of measured errors."""

import math
from collections.abc import Sequence


def quantile(values: Sequence[float], q: float) -> float:
    """Return the nearest-rank quantile: the smallest value that at least ``q`` of them do not exceed."""
    if not values:
        return math.nan
    return sorted(values)[max(0, math.ceil(q * len(values)) - 1)]
