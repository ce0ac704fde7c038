import asyncio
import math

import aiohttp
import openai
import pytest
from openai import AsyncOpenAI

from exporter.demo.answers import MODEL_ID

USER = [{"role": "user", "content": "héllo"}]
PROMPT_TOKENS = 4 + len("héllo".encode())


@pytest.fixture
async def client(endpoint):
    async with endpoint.client() as client:
        yield client


async def chat(client: AsyncOpenAI, **options):
    defaults = {"model": MODEL_ID, "messages": USER, "max_tokens": 24, "temperature": 0}
    return await client.chat.completions.create(**defaults | options)


async def test_a_whole_answer_has_text_a_finish_reason_and_exact_counts(client: AsyncOpenAI) -> None:
    answer = await chat(client)
    (choice,) = answer.choices
    assert (choice.finish_reason, choice.message.role, answer.model) == ("length", "assistant", MODEL_ID)
    assert len(choice.message.content.encode()) == 24
    usage = answer.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (
        PROMPT_TOKENS,
        24,
        PROMPT_TOKENS + 24,
    )


async def test_a_stream_is_role_then_text_then_finish_reason_then_usage(client: AsyncOpenAI) -> None:
    stream = await chat(client, stream=True, stream_options={"include_usage": True})
    role, *texts, end, usage = [chunk async for chunk in stream]
    assert (role.choices[0].delta.role, role.choices[0].delta.content) == ("assistant", "")
    assert all(chunk.choices[0].delta.content for chunk in texts)
    assert all(chunk.choices[0].finish_reason is None and chunk.usage is None for chunk in [role, *texts])
    assert (end.choices[0].finish_reason, end.choices[0].delta.content) == ("length", None)
    assert (usage.choices, usage.usage.prompt_tokens, usage.usage.completion_tokens) == (
        [],
        PROMPT_TOKENS,
        24,
    )
    assert len({chunk.id for chunk in [role, *texts, end, usage]}) == 1
    whole = await chat(client)
    assert "".join(chunk.choices[0].delta.content for chunk in texts) == whole.choices[0].message.content


async def test_without_include_usage_the_finish_reason_is_the_last_chunk(client: AsyncOpenAI) -> None:
    chunks = [chunk async for chunk in await chat(client, stream=True)]
    assert chunks[-1].choices[0].finish_reason == "length"
    assert all(chunk.usage is None for chunk in chunks)


async def test_the_raw_stream_is_utf8_events_that_end_with_done(endpoint) -> None:
    body = {"model": MODEL_ID, "messages": USER, "max_tokens": 200, "seed": 3, "stream": True}
    url = endpoint.base_url + "/chat/completions"
    async with aiohttp.ClientSession() as session, session.post(url, json=body) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert answer.headers["x-request-id"].startswith("req_")
        text = (await answer.read()).decode("utf-8")
    events = text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    assert all(event.startswith("data: {") for event in events[:-2])
    assert any(ord(letter) > 127 for letter in text), "two-byte characters are sent as they are"


async def test_seed_decides_the_text(client: AsyncOpenAI) -> None:
    texts = [
        (await chat(client, temperature=1, seed=seed)).choices[0].message.content
        for seed in (1, 1, -2, None, None)
    ]
    assert texts[0] == texts[1]
    assert len(set(texts)) == 4


async def test_stop_strings_end_the_answer(client: AsyncOpenAI) -> None:
    whole = (await chat(client)).choices[0].message.content
    stop = whole[5:7]
    cut = (await chat(client, stop=[stop])).choices[0]
    assert (cut.message.content, cut.finish_reason) == (whole[: whole.index(stop)], "stop")
    pieces = [c.choices[0].delta.content or "" async for c in await chat(client, stop=stop, stream=True)]
    assert "".join(pieces) == cut.message.content


async def test_completions_whole_and_streamed_are_the_same_text(client: AsyncOpenAI) -> None:
    options = {"model": MODEL_ID, "prompt": "once", "max_tokens": 20, "temperature": 0}
    whole = await client.completions.create(**options)
    assert (whole.object, whole.choices[0].finish_reason) == ("text_completion", "length")
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (5, 20)
    stream = await client.completions.create(**options, stream=True, stream_options={"include_usage": True})
    *texts, end, usage = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].text for chunk in texts) == whole.choices[0].text
    assert (end.choices[0].finish_reason, usage.choices, usage.usage) == ("length", [], whole.usage)


async def test_both_encodings_give_the_same_unit_vectors(client: AsyncOpenAI) -> None:
    texts = ["one text", "another, longer text " * 20]
    # The SDK asks for base64 when it is not told, and decodes it.
    packed = await client.embeddings.create(model=MODEL_ID, input=texts)
    plain = await client.embeddings.create(model=MODEL_ID, input=texts, encoding_format="float")
    assert [row.index for row in plain.data] == [0, 1]
    for one, other in zip(packed.data, plain.data, strict=True):
        assert one.embedding == pytest.approx(other.embedding, abs=1e-6)
        assert len(other.embedding) == 128
        assert math.hypot(*other.embedding) == pytest.approx(1, abs=1e-5)
    assert plain.usage.prompt_tokens == plain.usage.total_tokens == 2 + sum(map(len, texts))


async def test_dimensions_shorten_the_vector_and_keep_its_length_one(client: AsyncOpenAI) -> None:
    whole = (await client.embeddings.create(model=MODEL_ID, input="x")).data[0].embedding
    short = (await client.embeddings.create(model=MODEL_ID, input="x", dimensions=7)).data[0].embedding
    assert math.hypot(*short) == pytest.approx(1, abs=1e-5)
    assert [value / short[0] for value in short] == pytest.approx([v / whole[0] for v in whole[:7]], rel=1e-3)


async def test_the_one_model_is_listed(client: AsyncOpenAI) -> None:
    listed = [model async for model in client.models.list()]
    assert [model.id for model in listed] == [MODEL_ID]
    assert (await client.models.retrieve(MODEL_ID)).owned_by == "inference-exporter"
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("gpt-4")


async def test_errors_become_the_sdks_exceptions(client: AsyncOpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as bad:
        await chat(client, n=2)
    assert (bad.value.param, bad.value.code) == ("n", "unsupported_parameter")
    with pytest.raises(openai.BadRequestError) as long:
        await chat(client, messages=[{"role": "user", "content": "x" * 5000}])
    assert long.value.code == "context_length_exceeded"
    with pytest.raises(openai.NotFoundError) as unknown:
        await chat(client, model="gpt-4")
    assert (unknown.value.code, unknown.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.APIStatusError) as large:
        await client.embeddings.create(model=MODEL_ID, input="x" * (2 << 20))
    assert (large.value.status_code, large.value.code) == (413, "request_too_large")


@pytest.mark.parametrize(
    ("request_line", "body", "status", "says"),
    [
        pytest.param("POST /chat/completions", b"{nonsense", 400, "parse the JSON body", id="no JSON"),
        pytest.param("POST /chat/completions", b"[]", 400, "must be a JSON object", id="a list"),
        pytest.param("GET /chat/completions", None, 405, "use POST", id="the wrong method"),
        pytest.param("POST /images/generations", b"{}", 404, "Unknown request URL", id="an unknown path"),
    ],
)
async def test_errors_have_openais_shape(endpoint, request_line, body, status, says) -> None:
    method, path = request_line.split()
    url = endpoint.base_url + path
    async with aiohttp.ClientSession() as session, session.request(method, url, data=body) as answer:
        assert answer.status == status
        error = (await answer.json())["error"]
        assert set(error) == {"message", "type", "param", "code"}
        assert says in error["message"]
        assert answer.headers.get("Allow") == ("POST" if status == 405 else None)


async def test_a_key_is_asked_for_where_one_is_set(start) -> None:
    endpoint = start("--api-key-env", "DEMO_KEY", env={"DEMO_KEY": "sesame\n"})
    async with endpoint.client("sesame") as right, endpoint.client("wrong") as wrong:
        assert (await chat(right)).choices
        with pytest.raises(openai.AuthenticationError) as refused:
            await chat(wrong)
        assert refused.value.code == "invalid_api_key"
        assert "wrong" not in str(refused.value)
        assert "sesame" not in str(refused.value)
        with pytest.raises(openai.AuthenticationError):
            await wrong.models.retrieve(MODEL_ID)
    assert endpoint.health()["status"] == "ok"


async def test_streams_at_once_each_get_their_own_whole_text(client: AsyncOpenAI) -> None:
    async def read(prompt: str) -> str:
        stream = await chat(client, messages=[{"role": "user", "content": prompt}], stream=True)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    prompts = [f"prompt {n} " * n for n in range(1, 13)]
    together = await asyncio.gather(*map(read, prompts))
    alone = [await read(prompt) for prompt in prompts]
    assert together == alone
    assert len(set(alone)) > 6
