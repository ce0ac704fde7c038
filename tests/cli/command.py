"""The command in a process of its own, beside servers on this loop."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


async def start(*arguments: str, env: Mapping[str, str] | None = None) -> asyncio.subprocess.Process:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "exporter",
        *arguments,
        cwd=ROOT,
        env={**clean, "PYTHONUNBUFFERED": "1", **(env or {})},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def ended(process: asyncio.subprocess.Process, said: str = "") -> Ran:
    async with asyncio.timeout(PATIENCE_S):
        out, err = await process.communicate(said.encode())
    assert process.returncode is not None
    return Ran(process.returncode, out.decode(), err.decode())


async def run(*arguments: str, said: str = "", env: Mapping[str, str] | None = None) -> Ran:
    return await ended(await start(*arguments, env=env), said)


def interrupt(process: asyncio.subprocess.Process) -> None:
    process.send_signal(signal.SIGINT)
