"""Every way a request can end, settled; a row says what came and what it is called."""

import pytest

from exporter.model.answer import read_answer
from exporter.model.outcome import Outcome
from exporter.model.timeline import timing_of
from exporter.model.transcript import Fault
from exporter.model.verdict import Verdict, judge
from tests.model.cases import FEW, KEY, PROMPT, Case, late
from tests.model.cases_of_bodies import BODIES
from tests.model.cases_of_faults import DEADLINES, FAULTS, STATUSES
from tests.model.cases_of_streams import STREAMS
from tests.model.streams import answered, event, ns, piece

CASES = [*FAULTS, *DEADLINES, *STATUSES, *STREAMS, *BODIES]


def judged(case: Case) -> Verdict:
    answer = read_answer(case.came)
    return judge(case.came, answer, wants_stream=case.stream, stall_timeout_s=case.stall_s)


@pytest.mark.parametrize("case", CASES, ids=[case.says for case in CASES])
def test_settled_cases(case: Case) -> None:
    verdict = judged(case)
    assert verdict.outcome is case.is_, verdict.detail
    if case.detail is not None:
        assert verdict.detail == case.detail


@pytest.mark.parametrize("case", CASES, ids=[case.says for case in CASES])
def test_a_detail_is_one_short_safe_line(case: Case) -> None:
    detail = judged(case).detail
    assert len(detail) < 120
    assert detail.isprintable()
    assert KEY not in detail
    assert PROMPT not in detail
    assert (detail == "") is (case.is_ is Outcome.OK)


@pytest.mark.parametrize("case", CASES, ids=[case.says for case in CASES])
def test_without_a_token_there_is_no_latency(case: Case) -> None:
    timing = timing_of(case.came, read_answer(case.came))
    if case.is_ is Outcome.EMPTY or not read_answer(case.came).tokens:
        assert (timing.ttft, timing.ttfc, timing.tpot, timing.e2e, timing.gaps) == (
            None,
            None,
            None,
            None,
            (),
        )


CODES = [
    ("an API key in place of a code is dropped", {"code": KEY}, ""),
    ("a key without dashes is dropped", {"code": "hf_Zx81VerySecret"}, ""),
    ("a sentence is dropped", {"code": "you said hello"}, ""),
    ("a line break is dropped", {"code": "bad\nHTTP 200"}, ""),
    ("a long word is dropped", {"code": "a" * 49}, ""),
    ("a bad code falls back on the type", {"code": KEY, "type": "server_error"}, "server_error"),
    (
        "a null code falls back on the type",
        {"code": None, "type": "invalid_request_error"},
        "invalid_request_error",
    ),
    ("a number", {"code": 503}, "503"),
    ("true is no code", {"code": True}, ""),
    ("a negative number is no code", {"code": -1}, ""),
    ("an object is no code", {"code": {"a": 1}}, ""),
]


@pytest.mark.parametrize(("_", "error", "code"), CODES, ids=[row[0] for row in CODES])
def test_only_what_looks_like_an_error_code_is_shown(_: str, error: dict, code: str) -> None:
    answer = read_answer(answered(piece(5, event(error=error | {"message": "m"}))))
    assert answer.error is not None
    assert answer.error.code == code


def test_every_outcome_a_chat_answer_can_have_has_a_row() -> None:
    elsewhere = {Outcome.CONTENT_MISMATCH, Outcome.OVER_BUDGET}
    assert {case.is_ for case in CASES} == set(Outcome) - elsewhere


def test_every_fault_has_a_row() -> None:
    assert {case.came.fault for case in CASES} == {*Fault, None}


def test_silence_is_counted_from_the_last_token() -> None:
    came = late(*FEW, closed_ms=360 + 2_000)
    assert came.closed_ns - ns(360) == 2_000_000_000
    verdict = judge(came, read_answer(came), wants_stream=True, stall_timeout_s=1.9)
    assert verdict == Verdict(Outcome.TIMEOUT_STALL, "deadline: 2 s without a token")
