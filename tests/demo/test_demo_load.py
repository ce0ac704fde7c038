import asyncio
import json
import socket
import time

import openai
import psutil
import pytest

from exporter.demo.answers import MODEL_ID

USER = [{"role": "user", "content": "hello"}]
# The length of an answer must not depend on luck where answers are compared or kept running.
WHOLE = {"ignore_eos": True}


async def chat(client, max_tokens: int, **options):
    return await client.chat.completions.create(
        model=MODEL_ID, messages=USER, max_tokens=max_tokens, temperature=0, extra_body=WHOLE, **options
    )


async def timed(client, max_tokens: int) -> float:
    begun = time.monotonic()
    await chat(client, max_tokens)
    return time.monotonic() - begun


async def until(condition, seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    for _ in iter(condition, True):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


async def test_latency_grows_with_load_and_batching_still_saves_work(start) -> None:
    endpoint = start("--max-batch", "4")
    async with endpoint.client() as client:
        await timed(client, 4)
        alone = min([await timed(client, 150) for _ in range(3)])
        before = endpoint.health()
        loaded = await asyncio.gather(*(timed(client, 150) for _ in range(16)))
        after = endpoint.health()
    # Sixteen answers through four slots: the last ones wait for three rounds.
    assert sorted(loaded)[8] > 1.5 * alone
    assert max(loaded) > 2 * alone
    tokens = after["decoded_tokens"] - before["decoded_tokens"]
    steps = after["decode_steps"] - before["decode_steps"]
    assert tokens == 16 * 149
    assert 2 < tokens / steps <= 4


async def test_a_full_line_is_answered_with_429_and_when_to_come_back(start) -> None:
    endpoint = start("--max-batch", "1", "--max-queue", "1")
    async with endpoint.client() as client:
        running = asyncio.create_task(chat(client, 4000))
        await until(lambda: endpoint.health()["active"] == 1)
        waiting = asyncio.create_task(chat(client, 1))
        await until(lambda: endpoint.health()["waiting"] == 1)
        with pytest.raises(openai.RateLimitError) as full:
            await chat(client, 1)
        assert full.value.code == "rate_limit_exceeded"
        assert int(full.value.response.headers["retry-after"]) >= 1
        with pytest.raises(openai.RateLimitError):
            await client.embeddings.create(model=MODEL_ID, input="x")
        running.cancel()
        assert (await waiting).usage.completion_tokens == 1


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
async def test_a_client_that_leaves_frees_its_slot(endpoint, stream: bool) -> None:
    body = {"model": MODEL_ID, "messages": USER, "max_tokens": 4000, "stream": stream} | WHOLE
    raw = json.dumps(body).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(raw)}\r\n\r\n"
    with socket.create_connection(endpoint.address, timeout=10) as connection:
        connection.sendall(head.encode() + raw)
        await until(lambda: endpoint.health()["active"] == 1)
    done = endpoint.health()["decoded_tokens"]
    await until(lambda: endpoint.health()["active"] == 0)
    assert endpoint.health()["decoded_tokens"] - done < 3000


async def test_a_client_that_leaves_the_line_frees_its_place(start) -> None:
    endpoint = start("--max-batch", "1", "--max-queue", "2")
    async with endpoint.client() as client:
        running = asyncio.create_task(chat(client, 4000))
        await until(lambda: endpoint.health()["active"] == 1)
        waiting = asyncio.create_task(chat(client, 1))
        await until(lambda: endpoint.health()["waiting"] == 1)
        waiting.cancel()
        await until(lambda: endpoint.health()["waiting"] == 0)
        assert endpoint.health()["active"] == 1
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def test_the_server_answers_while_it_computes(endpoint) -> None:
    async with endpoint.client() as client:
        busy = asyncio.create_task(chat(client, 4000))
        await until(lambda: endpoint.health()["active"] == 1)
        for _ in range(10):
            assert endpoint.health()["active"] == 1
        busy.cancel()


async def test_an_idle_server_uses_no_cpu(endpoint) -> None:
    async with endpoint.client() as client:
        await chat(client, 20)
    process = psutil.Process(endpoint.process.pid)
    before, began = sum(process.cpu_times()[:2]), time.monotonic()
    await asyncio.sleep(2)
    assert sum(process.cpu_times()[:2]) - before < 0.02 * (time.monotonic() - began)


async def test_memory_does_not_grow_with_requests(start) -> None:
    endpoint = start()
    async with endpoint.client() as client:
        process = psutil.Process(endpoint.process.pid)

        async def rounds(count: int) -> int:
            for _ in range(count):
                await asyncio.gather(*(chat(client, 20) for _ in range(8)))
            return process.memory_info().rss

        warm = await rounds(10)
        assert await rounds(30) - warm < 4 << 20
        files = process.num_fds()
        await rounds(2)
        assert process.num_fds() == files
