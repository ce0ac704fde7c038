"""Pieces of the texts that people read; templates that Prometheus fills in when an alert fires."""

from exporter.metrics.catalogue import probe, sla
from exporter.metrics.catalogue.probe import WHO
from exporter.metrics.family import Family

PROBE_OF = "probe {{ $labels.probe }} of {{ $labels.target }} (model {{ $labels.model }})"
PERCENT = "{{ $value | humanizePercentage }}"


def lookup(query: str, labels: tuple[str, ...], shown: str) -> str:
    """Return a template that shows the first result of a query, and nothing where there is none.

    ``%s`` in the query stand for the alert's labels, in order; ``shown`` is a template of the sample ``.``.
    """
    arguments = " ".join(f"$labels.{label}" for label in labels)
    return (
        f"{{{{ with printf `{query}` {arguments} | query }}}}{{{{ with . | first }}}}{shown}"
        "{{ end }}{{ end }}"
    )


def selector(family: Family, labels: tuple[str, ...]) -> str:
    """Return a selector for ``lookup`` with a ``%s`` for each label."""
    pairs = ",".join(f'{label}="%s"' for label in labels)
    return f"{family.name}{{{pairs}}}"


_SLI = (*WHO, "sli")
PROMISE = (
    "The objective: "
    + lookup(selector(sla.OBJECTIVE, _SLI), _SLI, "{{ . | value | humanizePercentage }}")
    + " of the requests end well"
    + lookup(selector(sla.THRESHOLD, _SLI), _SLI, " and within {{ . | value }} s")
    + "."
)
"""What was promised of the alert's SLI."""


def main_reason(window: str) -> str:
    """Return a template that names the most frequent reason of failure in the window."""
    query = f"topk(1, sum by (reason) (increase({selector(probe.FAILED, WHO)}[{window}])) > 0)"
    return lookup(query, WHO, " Most frequent reason: {{ . | label `reason` }}.")
