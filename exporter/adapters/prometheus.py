"""The sink: changes in, exposition out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from prometheus_client import CollectorRegistry, Counter, Histogram, disable_created_metrics
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from exporter.metrics.family import Family, InfoTable, Sample, Table, Type, matches

Instrument = TypeVar("Instrument", Counter, Histogram)


class _Children(Generic[Instrument]):
    """The series of one counter or histogram; without labels the instrument is its own only child."""

    def __init__(self, family: Family, instrument: Instrument) -> None:
        self._family = family
        self._instrument: Instrument = instrument
        self._children: dict[tuple[str, ...], Instrument] = {}

    def child(self, labels: tuple[str, ...]) -> Instrument:
        child = self._children.get(labels)
        if child is None:
            child = self._instrument.labels(*labels) if self._family.labels else self._instrument
            self._children[labels] = child
        return child

    def forget(self, wanted: Mapping[str, str]) -> None:
        for labels in [known for known in self.known if matches(self._family.labels, known, wanted)]:
            del self._children[labels]
            self._instrument.remove(*labels)

    @property
    def known(self) -> tuple[tuple[str, ...], ...]:
        return tuple(self._children)

    def collect(self) -> Iterable[Metric]:
        return self._instrument.collect()


class _Gauges:
    """The series of one gauge.

    Not the library's instrument: that shows a child at 0 between its creation and its first value.
    """

    def __init__(self, family: Family) -> None:
        self._family = family
        self._values: dict[tuple[str, ...], float] = {}

    def set(self, labels: tuple[str, ...], value: float | None) -> None:
        if value is not None:
            self._values[labels] = value
        else:
            self._values.pop(labels, None)

    def forget(self, wanted: Mapping[str, str]) -> None:
        for labels in [known for known in self._values if matches(self._family.labels, known, wanted)]:
            del self._values[labels]

    def collect(self) -> Iterable[Metric]:
        return [_gauge(self._family, self._family.labels, self._values.copy())]


class Sink(Collector):
    """Every series of the service.

    ``apply``, ``forget`` and the methods that set something are called from one thread; ``render`` from any
    at any time.  A scrape may show the first changes of a batch and not yet the others, but never a part
    above its whole: batches and the catalogue name a total before its parts (requests before breaches), and
    a scrape reads the families in the opposite order.
    """

    def __init__(self, families: Iterable[Family], bounds: Mapping[str, tuple[float, ...]]) -> None:
        """Build an instrument for each family; ``bounds`` are upper bounds by name of a histogram family.

        A histogram that is not in ``bounds`` has its family's own.
        """
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library's, unannotated
        self._families = tuple(families)
        self._bounds = {f.name: bounds.get(f.name, f.buckets) for f in self._of(Type.HISTOGRAM)}
        self._gauges = {f.name: _Gauges(f) for f in self._of(Type.GAUGE)}
        self._counters = {f.name: _Children(f, _counter(f)) for f in self._of(Type.COUNTER)}
        self._histograms = {
            f.name: _Children(f, _histogram(f, self._bounds[f.name])) for f in self._of(Type.HISTOGRAM)
        }
        self._infos: dict[str, InfoTable] = {}
        self._tables: dict[str, Table] = {}
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def _of(self, kind: Type) -> list[Family]:
        return [family for family in self._families if family.type is kind]

    def apply(self, samples: Iterable[Sample]) -> None:
        """Apply changes in order.

        Raises KeyError for a family that the sink was not built with, ValueError for a wrong number of labels
        or a negative addition to a counter: defects of the caller.
        """
        for sample in samples:
            family, value = sample.family, sample.value
            name = family.name
            if len(sample.labels) != len(family.labels):
                raise ValueError(f"{name} has the labels {family.labels}, not {sample.labels}")
            if family.type is Type.HISTOGRAM:
                histogram = self._histograms[name].child(sample.labels)
                if value is not None:
                    histogram.observe(value)
            elif family.type is Type.COUNTER:
                counter = self._counters[name].child(sample.labels)
                if value is not None:
                    counter.inc(value)
            else:
                self._gauges[name].set(sample.labels, value)

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
        for family in self._of(Type.HISTOGRAM):
            new = bounds.get(family.name, family.buckets)
            if new != self._bounds[family.name]:
                self._bounds[family.name] = new
                successor = _Children(family, _histogram(family, new))
                for labels in self._histograms[family.name].known:
                    successor.child(labels)
                self._histograms[family.name] = successor

    def set_info(self, table: InfoTable) -> None:
        """Replace every series of an info family."""
        self._infos[table.family.name] = table

    def set_tables(self, tables: Iterable[Table]) -> None:
        """Replace every series of each of these families; ``apply`` is not for them."""
        for table in tables:
            self._tables[table.family.name] = table

    def render(self, accept: str) -> tuple[bytes, str]:
        """Return the exposition in the format that the Accept header asks for, and its content type."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type

    def describe(self) -> Iterable[Metric]:
        """Return nothing: the registry would collect everything to learn the names."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield every family, parts before their totals."""
        for family in reversed(self._families):
            table = self._infos.get(family.name)
            if table is not None:
                yield _gauge(family, table.labels, dict.fromkeys(table.rows, 1.0))
            elif family.name in self._tables:
                yield _whole(self._tables[family.name])
            else:
                yield from self._series(family).collect()

    def _series(self, family: Family) -> "_Children[Counter] | _Children[Histogram] | _Gauges":
        if family.type is Type.COUNTER:
            return self._counters[family.name]
        if family.type is Type.HISTOGRAM:
            return self._histograms[family.name]
        return self._gauges[family.name]


def _gauge(family: Family, labels: tuple[str, ...], values: Mapping[tuple[str, ...], float]) -> Metric:
    metric = GaugeMetricFamily(family.name, family.help, labels=labels)
    for series, value in values.items():
        metric.add_metric(series, value)
    return metric


def _whole(table: Table) -> Metric:
    family = table.family
    if family.type is Type.GAUGE:
        return _gauge(family, family.labels, table.rows)
    metric = CounterMetricFamily(family.name, family.help, labels=family.labels)
    for series, value in table.rows.items():
        metric.add_metric(series, value)
    return metric


def _counter(family: Family) -> Counter:
    return Counter(family.name, family.help, family.labels, registry=None)


def _histogram(family: Family, bounds: tuple[float, ...]) -> Histogram:
    return Histogram(family.name, family.help, family.labels, registry=None, buckets=bounds)
