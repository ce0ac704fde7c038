"""The foreign servers: how each is started and when it is ready."""

import os
import secrets
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

START_DEADLINE_S = 180.0
LITELLM_CONFIG = """\
model_list:
  - model_name: mock
    litellm_params:
      model: openai/mock
      api_key: unused
      mock_response: "the quick brown fox jumps over the lazy dog and runs away"
  - model_name: upstream
    litellm_params: {{model: openai/toy, api_key: unused, api_base: "{upstream}"}}
"""
HERE = Path(__file__).parent
Probe = dict[str, object]


def text_probes(kind: str, **params: object) -> list[Probe]:
    """A streaming probe and one without stream of a kind that generates text."""
    asked = {"prompt": "hi", "max_tokens": 16} | params
    return [
        {"name": f"{kind}-{name}", "kind": kind, "params": asked | {"stream": stream}}
        for name, stream in (("stream", True), ("whole", False))
    ]


def embeddings_probe(dimensions: int) -> Probe:
    params = {"input": ["one", "two and more"], "expect_dimensions": dimensions}
    return {"name": "embeddings", "kind": "embeddings", "params": params}


MODELS_PROBE: Probe = {"name": "models", "kind": "models"}


@dataclass(frozen=True)
class Server:
    """A server that answers on loopback."""

    name: str
    base_url: str
    model: str
    health_path: str
    command: tuple[str, ...]
    probes: tuple[Probe, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def transformers_serve(bin_dir: Path, model_dir: Path) -> Server:
    """Hugging Face's serving command over a random-weight Llama made on the spot."""
    port = free_port()
    return Server(
        name="transformers",
        base_url=f"http://127.0.0.1:{port}/v1",
        model=str(model_dir),
        health_path="/health",
        command=(
            str(bin_dir / "transformers"),
            "serve",
            str(model_dir),
            "--port",
            str(port),
            "--device",
            "cpu",
        ),
        probes=(*text_probes("chat"), *text_probes("completions"), MODELS_PROBE),
        env={"HF_HUB_OFFLINE": "1"},
    )


def litserve(bin_dir: Path) -> Server:
    """LitServe's OpenAI endpoints over a toy model."""
    port = free_port()
    return Server(
        name="litserve",
        base_url=f"http://127.0.0.1:{port}/v1",
        model="toy",
        health_path="/health",
        command=(str(bin_dir / "python"), str(HERE / "lit_server.py"), str(port)),
        probes=(*text_probes("chat"), embeddings_probe(8)),
    )


def litellm_proxy(bin_dir: Path, work_dir: Path, upstream: Server) -> tuple[Server, Server]:
    """LiteLLM's proxy, once with a mock answer and once before another server.

    The mock answer goes through its own streaming, tokenising and accounting code.
    """
    port = free_port()
    config = work_dir / "litellm.yml"
    config.write_text(LITELLM_CONFIG.format(upstream=upstream.base_url))
    key = f"sk-{secrets.token_hex(24)}"
    # Its mock cannot stream responses: it answers 500.
    responses = text_probes("responses")[1]
    mock = Server(
        name="litellm",
        base_url=f"http://127.0.0.1:{port}/v1",
        model="mock",
        health_path="/health/liveliness",
        command=(
            str(bin_dir / "litellm"),
            "--config",
            str(config),
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ),
        probes=(*text_probes("chat"), *text_probes("completions"), responses, MODELS_PROBE),
        env={"LITELLM_MASTER_KEY": key, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        key=key,
    )
    gateway = replace(
        mock, name="litellm-upstream", model="upstream", probes=(*text_probes("chat"), embeddings_probe(8))
    )
    return mock, gateway


@contextmanager
def running(server: Server, log_dir: Path) -> Iterator[Server]:
    """Start the server, wait until its health path answers, and stop it at the end."""
    log = log_dir / f"{server.name}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            server.command,
            env={**os.environ, **server.env},
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        _wait(server, process, log)
        yield server
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        # Some leave their workers behind.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    url = server.base_url.removesuffix("/v1") + server.health_path
    give_up = time.monotonic() + START_DEADLINE_S
    while time.monotonic() < give_up:
        if process.poll() is not None:
            raise SystemExit(f"{server.name} ended with {process.returncode} while starting; see {log}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit(f"{server.name} did not answer {url} within {START_DEADLINE_S:.0f} s; see {log}")
