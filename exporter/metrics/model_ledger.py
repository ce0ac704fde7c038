"""Which model answered each probe last, to see when another one does."""

from collections.abc import Iterator, Mapping

from exporter.metrics.catalogue import server
from exporter.metrics.catalogue.probe import WHO
from exporter.metrics.family import Sample, matches
from exporter.model.outcome import Outcome
from exporter.model.results import ProbeResult

_Who = tuple[str, str, str]


class ModelLedger:
    """The fingerprint of the last good answer that named a model, for each probe."""

    def __init__(self) -> None:
        self._last: dict[_Who, int] = {}

    def record(self, result: ProbeResult) -> Iterator[Sample]:
        """Yield what one result changes; failures and answers that name no model change nothing."""
        model = result.answered_by
        if result.outcome is not Outcome.OK or model is None:
            return
        who = result.identity.labels
        before = self._last.get(who)
        self._last[who] = model
        yield Sample(server.MODEL_HASH, who, model)
        if before not in {None, model}:
            yield Sample(server.MODEL_CHANGES, who, 1)

    def forget(self, labels: Mapping[str, str]) -> None:
        """Drop every probe that has all these labels."""
        self._last = {who: model for who, model in self._last.items() if not matches(WHO, who, labels)}
