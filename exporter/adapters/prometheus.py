"""The sink: changes in, exposition out."""

from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry, exposition
from prometheus_client.openmetrics import exposition as openmetrics_exposition
from prometheus_client.process_collector import ProcessCollector

from exporter.adapters import negotiation
from exporter.adapters.exposition import Histograms, Scalars, header, table_lines
from exporter.metrics.family import Family, InfoTable, Sample, Table, Type


class Sink:
    """Every series of the service.

    ``apply``, ``forget`` and the methods that set something are called from one thread; ``render`` from any
    at any time.  A scrape may show the first changes of a batch and not yet the others, but never a part
    above its whole: batches and the catalogue name a total before its parts (requests before breaches), and
    a scrape reads the families in the opposite order.
    """

    def __init__(
        self,
        families: Iterable[Family],
        bounds: Mapping[str, tuple[float, ...]],
        *,
        with_process: bool = True,
    ) -> None:
        """Make room for each family; ``bounds`` are upper bounds by name of a histogram family.

        A histogram that is not in ``bounds`` has its family's own.  ``with_process`` adds what the library
        knows of this process.
        """
        self._families = tuple(families)
        self._scalars = {f.name: Scalars(f) for f in self._families if f.type is not Type.HISTOGRAM}
        self._histograms = {
            f.name: Histograms(f, bounds.get(f.name, f.buckets))
            for f in self._families
            if f.type is Type.HISTOGRAM
        }
        self._infos: dict[str, InfoTable] = {}
        self._process = CollectorRegistry()
        if with_process:
            ProcessCollector(registry=self._process)
        # Without labels there is one series, known now, and to be born at 0 like every other.
        lone = (f for f in self._families if not f.labels and f.type is not Type.GAUGE)
        self.apply(Sample(family, (), None) for family in lone)

    def apply(self, samples: Iterable[Sample]) -> None:
        """Apply changes in order.

        Raises KeyError for a family that the sink was not built with, ValueError for a wrong number of labels
        or a negative addition to a counter: defects of the caller.
        """
        for sample in samples:
            family, labels = sample.family, sample.labels
            if len(labels) != len(family.labels):
                raise ValueError(f"{family.name} has the labels {family.labels}, not {labels}")
            if family.type is Type.HISTOGRAM:
                self._histograms[family.name].observe(labels, sample.value, sample.times)
            elif family.type is Type.COUNTER:
                self._scalars[family.name].add(labels, sample.value)
            else:
                self._scalars[family.name].set(labels, sample.value)

    def forget(self, labels: Mapping[str, str]) -> None:
        """Remove every series that has all these labels with these values; families without them are left.

        ``{"target": "prod"}`` removes a target, with model and probe too a single probe.  Info tables are
        replaced by ``set_info`` only.
        """
        for family in self._families:
            if labels and labels.keys() <= set(family.labels):
                self._series(family).forget(labels)

    def set_buckets(self, bounds: Mapping[str, tuple[float, ...]]) -> None:
        """Give histogram families new bounds; one whose bounds change starts again empty, no other does."""
        for family in self._families:
            if family.type is Type.HISTOGRAM:
                new = bounds.get(family.name, family.buckets)
                if new != self._histograms[family.name].bounds:
                    self._histograms[family.name] = self._histograms[family.name].emptied(new)

    def set_info(self, table: InfoTable) -> None:
        """Replace every series of an info family."""
        self._infos[table.family.name] = table

    def set_tables(self, tables: Iterable[Table]) -> None:
        """Replace every series of each of these families, none of them a histogram."""
        for table in tables:
            self._scalars[table.family.name].replace(table.rows)

    def render(self, accept: str) -> tuple[bytes, str]:
        """Return the exposition in the format that the Accept header asks for, and its content type."""
        openmetrics = negotiation.prefers_openmetrics(accept)
        own = "".join(self._lines(openmetrics=openmetrics))
        if openmetrics:
            process = openmetrics_exposition.generate_latest(self._process)  # type: ignore[no-untyped-call]
            return own.encode() + process, negotiation.OPENMETRICS
        return own.encode() + exposition.generate_latest(self._process), negotiation.TEXT

    def _lines(self, *, openmetrics: bool) -> Iterator[str]:
        """Yield every family, parts before their totals."""
        for family in reversed(self._families):
            yield header(family, openmetrics=openmetrics)
            table = self._infos.get(family.name)
            yield from self._series(family).lines() if table is None else table_lines(table)

    def _series(self, family: Family) -> Scalars | Histograms:
        if family.type is Type.HISTOGRAM:
            return self._histograms[family.name]
        return self._scalars[family.name]
