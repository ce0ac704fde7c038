"""The last results: failures outlive successes, and all of it is bounded."""

from exporter.app.history import FAILURES_EACH, SUCCESSES_EACH, History
from exporter.model.outcome import Outcome
from tests.metrics.builders import probe, result, target


def outcomes(history: History) -> list[str]:
    return [past.outcome for past in history.list()]


def test_failures_outlive_successes() -> None:
    history = History()
    history.add(result(Outcome.DNS))
    for _ in range(100):
        history.add(result())
    assert outcomes(history) == ["ok"] * SUCCESSES_EACH + ["dns"]
    for _ in range(100):
        history.add(result(Outcome.AUTH))
    assert outcomes(history).count("auth") == FAILURES_EACH
    assert outcomes(history).count("ok") == SUCCESSES_EACH


def test_bytes_are_bounded_and_successes_go_first() -> None:
    history = History(max_bytes=20_000)
    for number in range(500):
        outcome = Outcome.OK if number % 2 else Outcome.DNS
        history.add(result(outcome, target=target(f"t{number}")))
        assert history.bytes <= 20_000
    assert set(outcomes(history)) == {"dns"}
    assert history.list()[0].target == "t498"


def test_a_long_detail_is_cut() -> None:
    history = History()
    history.add(result(Outcome.INTERNAL, detail="x" * 1_000_000))
    assert history.bytes < 20_000


def test_texts_are_found_by_their_number() -> None:
    history = History()
    history.add(result(Outcome.AUTH, detail="HTTP 401"))
    (past,) = history.list()
    text = history.text(past.id)
    assert text is not None
    assert "HTTP 401" in text
    assert "Usual cause: The key is missing" in text
    assert history.text(past.id + 1) is None


def test_departed_probes_are_forgotten() -> None:
    history = History()
    history.add(result())
    history.add(result(spec=probe("other")))
    history.keep_only({("prod", "other")})
    assert [past.probe for past in history.list()] == ["other"]
    history.keep_only(set())
    assert history.bytes == 0
