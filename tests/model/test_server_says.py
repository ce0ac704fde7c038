"""What a server says of itself: rate limits, its own timings, the model behind it."""

import json

import pytest

from exporter.model.answer import read_answer
from exporter.model.rate_limits import RateLimit, RateLimits, rate_limits_in
from exporter.model.results import fingerprint
from exporter.model.server_timing import ServerTiming, timing_in_headers
from tests.model.streams import answered, event, piece, text


def headers(**said: str):
    return answered(headers=tuple((name.replace("_", "-"), value) for name, value in said.items()))


LIMITS = [
    ("nothing", {}, RateLimits()),
    (
        "OpenAI's",
        {
            "x_ratelimit_limit_requests": "60",
            "x_ratelimit_remaining_requests": "59",
            "x_ratelimit_reset_requests": "1s",
            "x_ratelimit_limit_tokens": "150000",
            "x_ratelimit_remaining_tokens": "149984",
            "x_ratelimit_reset_tokens": "6m0s",
        },
        RateLimits(
            requests=RateLimit(limit=60, remaining=59, reset_s=1),
            tokens=RateLimit(limit=150000, remaining=149984, reset_s=360),
        ),
    ),
    (
        "a gateway's own",
        {"x_ratelimit_limit": "10", "x_ratelimit_remaining": "0", "x_ratelimit_reset": "30"},
        RateLimits(requests=RateLimit(limit=10, remaining=0, reset_s=30)),
    ),
    (
        "the IETF draft's",
        {"ratelimit_limit": "10", "ratelimit_remaining": "3"},
        RateLimits(requests=RateLimit(limit=10, remaining=3)),
    ),
    ("milliseconds", {"x_ratelimit_reset_tokens": "120ms"}, RateLimits(tokens=RateLimit(reset_s=0.12))),
    ("Retry-After in seconds", {"retry_after": "7"}, RateLimits(retry_after_s=7)),
    (
        "Retry-After as a date",
        {"retry_after": "Tue, 14 Nov 2023 22:13:40 GMT"},
        RateLimits(retry_after_s=20),
    ),
    ("a date that is past", {"retry_after": "Tue, 14 Nov 2000 22:13:40 GMT"}, RateLimits(retry_after_s=0)),
    (
        "nonsense",
        {"x_ratelimit_limit_requests": "many", "x_ratelimit_reset_tokens": "1..2s", "retry_after": "soon"},
        RateLimits(),
    ),
    ("infinite", {"x_ratelimit_limit_requests": "inf", "retry_after": "nan"}, RateLimits()),
    ("negative", {"x_ratelimit_remaining_requests": "-1"}, RateLimits()),
]


@pytest.mark.parametrize(("_", "said", "limits"), LIMITS, ids=[row[0] for row in LIMITS])
def test_rate_limits(_: str, said: dict[str, str], limits: RateLimits) -> None:
    assert rate_limits_in(headers(**said), 1_700_000_000.0) == limits


HEADERS = [
    ("OpenAI", {"openai_processing_ms": "250"}, ServerTiming(total_s=0.25)),
    ("TGI", {"x_total_time": "250", "x_queue_time": "125"}, ServerTiming(total_s=0.25, queue_s=0.125)),
    (
        "LiteLLM",
        {"x_litellm_response_duration_ms": "500.0", "x_litellm_overhead_duration_ms": "62.5"},
        ServerTiming(total_s=0.5, overhead_s=0.0625),
    ),
    ("Azure", {"x_envoy_upstream_service_time": "125"}, ServerTiming(total_s=0.125)),
    ("nonsense", {"openai_processing_ms": "fast"}, ServerTiming()),
    ("not a number", {"openai_processing_ms": "nan"}, ServerTiming()),
    ("negative", {"openai_processing_ms": "-1"}, ServerTiming()),
]


@pytest.mark.parametrize(("_", "said", "timing"), HEADERS, ids=[row[0] for row in HEADERS])
def test_timings_in_headers(_: str, said: dict[str, str], timing: ServerTiming) -> None:
    assert timing_in_headers(headers(**said)) == timing


def test_timings_in_the_last_chunk() -> None:
    llama = event(choices=[], timings={"prompt_ms": 31.25, "predicted_ms": 500.0, "prompt_n": 3})
    groq = event(choices=[], usage={"total_time": 0.5, "queue_time": 0.25, "prompt_time": 0.125})
    for last, timing in (
        (llama, ServerTiming(prefill_s=0.03125, decode_s=0.5)),
        (groq, ServerTiming(total_s=0.5, queue_s=0.25, prefill_s=0.125)),
    ):
        assert read_answer(answered(piece(10, text()), piece(20, last))).server == timing
    odd = event(choices=[], timings={"prompt_ms": True, "predicted_ms": "5"})
    assert read_answer(answered(piece(10, odd))).server == ServerTiming()


def test_the_model_behind_an_answer_becomes_a_number() -> None:
    def model(*chunks: str) -> str | None:
        return read_answer(answered(piece(10, *chunks))).model

    assert (
        model(event(choices=[], model="a", system_fingerprint="f1"), event(choices=[], model="b")) == "a f1"
    )
    assert model(event(choices=[]), event(choices=[], model="b")) == "b"
    assert model(event(choices=[], model=7)) is None
    body = json.dumps({"model": "a", "choices": []})
    assert read_answer(answered(piece(10, body), content_type="application/json")).model == "a"
    assert fingerprint("a") == fingerprint("a") != fingerprint("b")
    assert 0 <= fingerprint("\ud800") < 2**48 == float(2**48)
