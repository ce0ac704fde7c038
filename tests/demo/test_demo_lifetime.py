import json
import os
import signal
import socket
import subprocess
import sys
import time

import openai
import psutil
import pytest

from exporter.demo.answers import MODEL_ID


def test_sigterm_ends_it_with_0(start) -> None:
    assert start().stop() == 0


def test_sigint_ends_it_with_0(start) -> None:
    endpoint = start()
    endpoint.process.send_signal(signal.SIGINT)
    assert endpoint.process.wait(20) == 0


async def stream(client, max_tokens: int):
    return await client.chat.completions.create(
        model=MODEL_ID,
        messages=[{"role": "user", "content": "hi"}],
        max_tokens=max_tokens,
        stream=True,
        extra_body={"ignore_eos": True},
    )


async def test_running_requests_finish_within_the_grace_and_new_ones_are_refused(start) -> None:
    endpoint = start("--grace", "30")
    async with endpoint.client() as client:
        chunks = await stream(client, 1500)
        await anext(chunks)
        endpoint.process.send_signal(signal.SIGTERM)
        texts = 0
        async for chunk in chunks:
            texts += bool(chunk.choices[0].delta.content)
            last = chunk
        assert last.choices[0].finish_reason == "length"
        assert texts > 1000
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(endpoint.address, timeout=10)
    assert endpoint.process.wait(20) == 0


async def test_requests_longer_than_the_grace_are_ended(start) -> None:
    endpoint = start("--grace", "0.1", "--slow-rate", "1", "--slow-factor", "1000")
    async with endpoint.client() as client:
        chunks = await stream(client, 2000)
        await anext(chunks)
        endpoint.process.send_signal(signal.SIGTERM)
        with pytest.raises(openai.APIError):
            async for _ in chunks:
                pass
    assert endpoint.process.wait(20) == 0


def test_the_end_of_standard_input_ends_it(start) -> None:
    endpoint = start("--exit-with-parent")
    assert endpoint.health()["status"] == "ok"
    endpoint.process.stdin.close()
    assert endpoint.process.wait(20) == 0


def test_without_the_flag_standard_input_is_nothing_to_it(start) -> None:
    endpoint = start()
    endpoint.process.stdin.close()
    assert endpoint.health()["status"] == "ok"


PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-m", "exporter.demo", "--exit-with-parent"], stdin=subprocess.PIPE)
print(child.pid, flush=True)
time.sleep(60)
"""


def test_it_does_not_outlive_a_parent_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        try:
            lines = sorted([parent.stdout.readline(), parent.stdout.readline()])
            child = psutil.Process(int(lines[0]))
            assert "listening" in json.loads(lines[1])
            assert child.is_running()
        finally:
            parent.kill()
    deadline = time.monotonic() + 20
    # In a container nobody may reap the orphan.
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def run(*flags: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "exporter.demo", *flags],
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_port_that_is_taken_is_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run("--port", str(taken.getsockname()[1]))
    assert ended.returncode == 1
    assert "Cannot listen on 127.0.0.1:" in ended.stderr
    assert "Choose another --port" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


def test_a_key_variable_that_is_not_set_is_said() -> None:
    ended = run("--api-key-env", "NO_SUCH_KEY")
    assert ended.returncode == 2
    assert "NO_SUCH_KEY is not set" in ended.stderr


def test_it_listens_on_loopback_only_and_computes_on_one_thread(start) -> None:
    endpoint = start()
    process = psutil.Process(endpoint.process.pid)
    listening = [c.laddr.ip for c in process.net_connections("tcp") if c.status == psutil.CONN_LISTEN]
    assert listening == ["127.0.0.1"]
    # The event loop and the engine; BLAS would add one a core.
    assert process.num_threads() == 2
