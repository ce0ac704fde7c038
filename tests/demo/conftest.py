import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest
from openai import AsyncOpenAI

MODEL = "demo-random-weights"


@dataclass
class Endpoint:
    process: subprocess.Popen[str]
    base_url: str

    def client(self, api_key: str = "none-needed", timeout: float = 30) -> AsyncOpenAI:
        return AsyncOpenAI(base_url=self.base_url, api_key=api_key, max_retries=0, timeout=timeout)

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.base_url.removeprefix("http://").removesuffix("/v1").split(":")
        return host, int(port)

    def health(self) -> dict[str, object]:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(self.base_url.removesuffix("/v1") + "/health", timeout=10) as answer:
            return json.load(answer)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=20)


@contextmanager
def running(*flags: str, env: dict[str, str] | None = None) -> Iterator[Endpoint]:
    process = subprocess.Popen(
        [sys.executable, "-m", "exporter.demo", *flags],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | (env or {}),
    )
    with process:
        try:
            yield Endpoint(process, json.loads(process.stdout.readline())["listening"])
        finally:
            if process.poll() is None:
                process.kill()


Start = Callable[..., Endpoint]


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ExitStack() as stack:
        yield lambda *flags, env=None: stack.enter_context(running(*flags, env=env))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with pytest.MonkeyPatch.context() as patch, running() as started:
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield started
