"""PromQL of the panels, from families of the catalogue: no name is spelled here."""

from exporter.metrics.catalogue.probe import WHO
from exporter.metrics.family import Family

PROBE = ", ".join(WHO)
SLI = f"{PROBE}, sli"
RATE = "$__rate_interval"
"""The shortest window that holds four scrapes: for how things move."""
WINDOW = "$window"
"""The window that the reader chose: for quantiles and shares, which need many requests."""


def by(labels: str, operation: str, family: Family | str, where: str = "") -> str:
    """Return an aggregation of a gauge (or of a recorded series, by its name) over what the labels leave."""
    name = family if isinstance(family, str) else family.name
    return f"{operation} by ({labels}) ({name}{braces(where)})"


def rate(labels: str, family: Family, where: str = "", window: str = RATE, part: str = "") -> str:
    """Return the rate a second; ``part`` is ``_sum``, ``_count`` or ``_bucket`` of a histogram."""
    return f"sum by ({labels}) (rate({family.name}{part}{braces(where)}[{window}]))"


def increase(labels: str, family: Family, where: str = "", window: str = WINDOW, part: str = "") -> str:
    """Return the increase over the window, extrapolated as Prometheus does."""
    return f"sum by ({labels}) (increase({family.name}{part}{braces(where)}[{window}]))"


def quantile(q: float, labels: str, family: Family, where: str = "", window: str = WINDOW) -> str:
    """Return a quantile of a histogram, which is exact to its buckets only."""
    inner = rate(f"le, {labels}" if labels else "le", family, where, window, "_bucket")
    return f"histogram_quantile({q:g}, {inner})"


def mean(labels: str, family: Family, where: str = "", window: str = WINDOW) -> str:
    """Return the mean of a histogram."""
    sums = rate(labels, family, where, window, "_sum")
    return f"{sums} / {rate(labels, family, where, window, '_count')}"


def braces(where: str) -> str:
    """Return the matchers in braces, or nothing."""
    return f"{{{where}}}" if where else ""
