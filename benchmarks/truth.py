"""Build and run the truth server, and read its log.

with TruthServer("--ttft-ms", "20") as server:
    ...                        # talk to server.base_url
requests = server.log()        # after the server has ended
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from types import TracebackType
from typing import Self

SOURCE = Path(__file__).parent / "truth_server"
BUILD = Path(__file__).parent.parent / "build" / "truth_server"
STOP_SECONDS = 10.0


class TruthServerError(Exception):
    """The truth server cannot be built or started; the message says why and what to do."""


class Kind(IntEnum):
    """What was asked for."""

    CHAT = 0
    COMPLETION = 1
    EMBEDDINGS = 2


class Fault(IntEnum):
    """What went wrong with a reply, as in ``truth_server/shape.h``."""

    NONE = 0
    ERR = 1
    CUT = 2
    STALL = 3
    TRUNC = 4
    STREAM_ERROR = 5
    ERROR_200 = 6
    HTML = 7
    BAD_JSON = 8
    DRIP = 9
    EMPTY = 10
    RESET = 11


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueRequest:
    """One request as the server saw it; times in nanoseconds of ``time.monotonic_ns()``, None = never."""

    sequence: int
    """Also in the response's id: ``chatcmpl-SEQUENCE``."""
    request_id: str | None
    kind: Kind
    status: int
    """HTTP status; 0 the server broke off, 299 truncated, -1 the client went away."""
    received_ns: int
    first_ns: int | None
    last_ns: int | None
    done_ns: int | None
    chunks: int
    tokens: int
    latest_timer_ns: int
    largest_gap_ns: int
    fault: Fault
    connection: int
    nth_on_connection: int
    in_flight: int
    longest_write_ns: int
    """No stamp is further than this from the departure of its bytes."""
    stamps_ns: tuple[int, ...] = ()
    """Just before the write that completed each token chunk."""

    @property
    def gaps_ns(self) -> tuple[int, ...]:
        """Gaps between token chunks."""
        return tuple(b - a for a, b in zip(self.stamps_ns, self.stamps_ns[1:], strict=False))


def missing_tools() -> str | None:
    """Name what a build lacks, or None."""
    compiler, *_ = os.environ.get("CC", "cc").split()
    lacking = [tool for tool in (compiler, "make") if shutil.which(tool) is None]
    return " and ".join(lacking) or None


def build(folder: Path = BUILD) -> Path:
    """Bring the executable up to date and return it.  Raises TruthServerError."""
    lacking = missing_tools()
    if lacking:
        raise TruthServerError(f"the truth server needs {lacking}: install a C compiler and make")
    folder.mkdir(parents=True, exist_ok=True)
    command = ["make", "--silent", "--directory", str(SOURCE), f"BUILD={folder}"]
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several test runs may want it at once
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TruthServerError(f"the truth server in {SOURCE} does not build:\n{done.stdout}{done.stderr}")
    return folder / "truth_server"


def parse_log(log: str, stamps: str = "") -> tuple[TrueRequest, ...]:
    """Read the text of a log and of a stamps file."""
    stamps_of = {row[0]: tuple(row[1:]) for row in map(_integers, _lines(stamps))}
    return tuple(_request(line.split(), stamps_of) for line in _lines(log))


def _lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if line and not line.startswith("#"))


def _integers(line: str) -> list[int]:
    return [int(word) for word in line.split()]


def _request(words: list[str], stamps_of: dict[int, tuple[int, ...]]) -> TrueRequest:
    sequence, request_id = int(words[0]), words[1]
    kind, status, received, first, last, done, chunks, tokens, late, gap, fault, *rest = map(int, words[2:])
    connection, nth, in_flight, longest_write = rest
    return TrueRequest(
        sequence=sequence,
        request_id=None if request_id == "-" else request_id,
        kind=Kind(kind),
        status=status,
        received_ns=received,
        first_ns=first or None,
        last_ns=last or None,
        done_ns=done or None,
        chunks=chunks,
        tokens=tokens,
        latest_timer_ns=late,
        largest_gap_ns=gap,
        fault=Fault(fault),
        connection=connection,
        nth_on_connection=nth,
        in_flight=in_flight,
        longest_write_ns=longest_write,
        stamps_ns=stamps_of.get(sequence, ()),
    )


class TruthServer:
    """A running truth server; the context manager's end stops it.

    ``options`` are those of the executable (``--help``); the port, the log and the stamps are set here.
    """

    def __init__(self, *options: str, certificate: tuple[Path, Path] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="truth-")
        self._log = Path(self._folder.name) / "log"
        self._stamps = Path(self._folder.name) / "stamps"
        self._options = [*options, "--port", "0", "--log", str(self._log), "--stamps", str(self._stamps)]
        if certificate:
            self._options += ["--tls-cert", str(certificate[0]), "--tls-key", str(certificate[1])]
        self._scheme = "https" if certificate else "http"
        self._process: subprocess.Popen[str] | None = None
        self._requests: tuple[TrueRequest, ...] = ()
        self.port = 0

    def __enter__(self) -> Self:
        executable = build()
        process = subprocess.Popen(
            [str(executable), *self._options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        first_line = process.stdout.readline() if process.stdout else ""
        if not first_line:
            _, errors = process.communicate()
            self._folder.cleanup()
            raise TruthServerError(f"the truth server did not start: {errors.strip()}")
        self._process = process
        self.port = int(first_line)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"{self._scheme}://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """What an OpenAI client takes as its base URL."""
        return f"{self.origin}/v1"

    def with_shape(self, **settings: object) -> str:
        """Return a base URL whose replies have these settings: ``with_shape(fault="cut", ttft_ms=5)``."""
        changes = ",".join(f"{name.replace('_', '-')}={value}" for name, value in settings.items())
        return f"{self.origin}/with/{changes}/v1"

    @property
    def pid(self) -> int:
        """Process id while it runs."""
        if self._process is None:
            raise TruthServerError("the truth server does not run")
        return self._process.pid

    def stop(self) -> None:
        """End the server and read its log; harmless when it has ended already."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.terminate()
        try:
            process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        self._requests = parse_log(self._log.read_text(), self._stamps.read_text())
        self._folder.cleanup()

    def log(self) -> tuple[TrueRequest, ...]:
        """Every request in the order in which they ended; empty until the server was stopped."""
        return self._requests


@contextmanager
def loopback_certificate() -> Iterator[tuple[Path, Path, Path]]:
    """Yield files with a certificate for 127.0.0.1, its key, and the CA that signed it."""
    import trustme  # noqa: PLC0415 - a development dependency that plain HTTP does without

    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1", "localhost")
    with tempfile.TemporaryDirectory(prefix="truth-tls-") as folder:
        chain, key, ca = (Path(folder) / name for name in ("chain.pem", "key.pem", "ca.pem"))
        chain.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        issued.private_key_pem.write_to_path(str(key))
        authority.cert_pem.write_to_path(str(ca))
        yield chain, key, ca
