"""A child process that answers in JSON lines, and that cannot outlive, outgrow or outwait its parent.

It runs in a session of its own, so that killing its process group reaches whatever it started, and a
Ctrl-C on the terminal reaches only the parent.  Its memory use here is bounded: one line of output
(``MAX_LINE_BYTES``) is read ahead at most twice, and of its standard error only the tail is kept.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MAX_LINE_BYTES = 1 << 20
STDERR_TAIL_BYTES = 2048
REAP_S = 5.0
"""How long a killed child may take to be gone; one stuck in a driver call can take for ever."""


class ChildFault(StrEnum):
    """Why a child gave no answer."""

    NOT_STARTED = "not_started"
    TIMEOUT = "timeout"
    CRASHED = "crashed"
    BAD_OUTPUT = "bad_output"


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """The end of a child that was still wanted; ``detail`` is one line for people."""

    fault: ChildFault
    detail: str


class Child:
    """A running child; once ``receive`` returned ``ChildEnd`` it is dead, and only ``stop`` makes sense."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._killed = False
        self._stderr_tail = b""
        self._stderr_reader = asyncio.create_task(
            self._keep_stderr_tail(), name=f"stderr of child {process.pid}"
        )

    @property
    def pid(self) -> int:
        """Process id, which is its process group's and session's id too."""
        return self._process.pid

    @property
    def is_gone(self) -> bool:
        """Whether the process has ended; one stuck in a driver call survives even SIGKILL for a while."""
        return self._process.returncode is not None

    def send(self, message: Mapping[str, Any]) -> None:
        """Write one JSON line to the child; whether it is still there shows when receiving."""
        stdin = self._process.stdin
        if stdin is not None and not stdin.is_closing():
            stdin.write(json.dumps(message, allow_nan=False).encode() + b"\n")

    async def receive(self, timeout_s: float) -> dict[str, Any] | ChildEnd:
        """Return the next line's JSON object; a child that has none within ``timeout_s`` is killed."""
        try:
            async with asyncio.timeout(timeout_s):
                line = await self._stdout.readline()
        except TimeoutError:
            return await self._end(ChildFault.TIMEOUT, f"no answer within {timeout_s:.3g} s; killed")
        except ValueError:
            too_long = f"a line of more than {MAX_LINE_BYTES} bytes; killed"
            return await self._end(ChildFault.BAD_OUTPUT, too_long)
        if not line.endswith(b"\n"):
            return await self._end_of_output()
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            return await self._end(ChildFault.BAD_OUTPUT, f"not a JSON object: {line[:60]!r}; killed")
        return answer

    async def dismiss(self, grace_s: float) -> None:
        """Close its input, which asks a child to end by itself, and kill what is left after the grace."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(grace_s):
                while await self._stdout.read(1 << 16):
                    pass
                await self._process.wait()
        await self.stop()

    async def stop(self) -> None:
        """Kill whatever is left of the child and release its pipes; safe to call more than once."""
        self._kill()
        if self._process.stdin is not None:
            self._process.stdin.close()
        # Reading to the end closes the pipes, also when the child was killed in the middle of a flood.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REAP_S):
                while await self._stdout.read(1 << 16):
                    pass
                await self._stderr_reader
                await self._process.wait()
        self._stderr_reader.cancel()

    @property
    def _stdout(self) -> asyncio.StreamReader:
        if self._process.stdout is None:
            raise RuntimeError("a child is started with all three pipes")
        return self._process.stdout

    async def _end_of_output(self) -> ChildEnd:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REAP_S):
                await self._process.wait()
        status = self._process.returncode
        if status is None:
            return await self._end(ChildFault.BAD_OUTPUT, "closed its output and went on; killed")
        if status == 0:
            return await self._end(ChildFault.BAD_OUTPUT, "ended without an answer")
        if status < 0:
            return await self._end(ChildFault.CRASHED, f"died of {_signal_name(-status)}")
        return await self._end(ChildFault.CRASHED, f"exit status {status}")

    async def _end(self, fault: ChildFault, what: str) -> ChildEnd:
        await self.stop()
        said = self._stderr_tail.decode(errors="replace").strip().splitlines()
        return ChildEnd(fault, f"{what}: {said[-1].strip()[:300]}" if said else what)

    async def _keep_stderr_tail(self) -> None:
        stderr = self._process.stderr
        while stderr is not None and (chunk := await stderr.read(1 << 16)):
            self._stderr_tail = (self._stderr_tail + chunk)[-STDERR_TAIL_BYTES:]

    def _kill(self) -> None:
        # Once only, and at the earliest: later the id might belong to somebody else's group.
        if not self._killed:
            self._killed = True
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # the real-time signals between the first and the last have no name
        return f"signal {number}"


async def start_child(module: str, *arguments: str, environment: Mapping[str, str]) -> Child | ChildEnd:
    """Start ``python -m module ARGUMENT...`` with exactly this environment.

    The caller stops every child it got, in a ``finally``.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            module,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,
            limit=MAX_LINE_BYTES,
        )
    except OSError as error:
        return ChildEnd(ChildFault.NOT_STARTED, f"cannot start {sys.executable}: {error.strerror or error}")
    return Child(process)
