"""When things arrived: what moves a stamp, what bounds it, and what is admitted not to be known."""

import asyncio
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from exporter.adapters.wire import kernel
from exporter.adapters.wire.clock import StampClock
from exporter.adapters.wire.loop import WatchingLoop, new_event_loop
from exporter.adapters.wire.stamped_socket import READ_BYTES, Record, StampedSocket
from exporter.adapters.wire.wire import Wire
from exporter.model.transcript import StampSource, Transcript
from tests.adapters.wire_server import DONE, END, STREAM_HEAD, chunk, event, request_to

GAP_S = 0.01
EVENTS = 6


class Sender:
    """A server in a thread of its own, so that a blocked client loop does not hold it up."""

    def __init__(self, pieces: list[bytes], gap_s: float) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pieces = pieces
        self._gap_s = gap_s
        self.port = self._listener.getsockname()[1]
        self.sent_ns: list[int] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        connection, _ = self._listener.accept()
        with connection, self._listener:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.recv(65_536)
            for piece in self._pieces:
                time.sleep(self._gap_s)
                self.sent_ns.append(time.monotonic_ns())
                connection.sendall(piece)
            connection.recv(1)

    def join(self) -> None:
        self._thread.join()


def probe(
    pieces: list[bytes],
    gap_s: float,
    *,
    block_s: float = 0.0,
    loop: Callable[[], asyncio.AbstractEventLoop] = new_event_loop,
) -> tuple[Transcript, Sender]:
    """Request the pieces while the client's loop is blocked for so long, again and again."""

    async def run() -> Transcript:
        wire = Wire(environ={})
        exchange = asyncio.create_task(wire.exchange(request_to(f"http://127.0.0.1:{sender.port}/")))
        while not exchange.done():
            await asyncio.sleep(block_s / 10)
            time.sleep(block_s)  # noqa: ASYNC251 - this is the block
        await wire.aclose()
        return await exchange

    sender = Sender(pieces, gap_s)
    with asyncio.Runner(loop_factory=loop) as runner:
        got = runner.run(run() if block_s else _undisturbed(sender))
    sender.join()
    return got, sender


async def _undisturbed(sender: Sender) -> Transcript:
    wire = Wire(environ={})
    got = await wire.exchange(request_to(f"http://127.0.0.1:{sender.port}/"))
    await wire.aclose()
    return got


STREAM = [STREAM_HEAD, *(chunk(event(str(n))) for n in range(EVENTS)), chunk(DONE) + END]


def test_a_blocked_loop_moves_the_reading_and_not_the_stamp() -> None:
    got, sender = probe(STREAM, GAP_S, block_s=2.5 * GAP_S)
    assert got.stamps is StampSource.KERNEL
    # Every read's stamp is the sending of its last segment; the pieces say how many that were.
    position = 0
    errors, delays = [], []
    for piece in got.body:
        position += piece.data.count(b"\n\n")
        errors.append(abs(piece.at_ns - sender.sent_ns[position]))
        delays.append(piece.read_ns - piece.at_ns)
    assert len(got.body) < EVENTS + 1  # the block did make reads coalesce
    assert sum(errors) < sum(delays) / 5
    assert max(got.lateness_ns) > GAP_S * 1e9 / 2


@pytest.mark.parametrize("loop", [new_event_loop, asyncio.new_event_loop], ids=["ours", "any"])
@pytest.mark.parametrize("block_s", [0.0, 2.5 * GAP_S], ids=["idle", "blocked"])
def test_every_event_was_sent_within_its_bound(
    loop: Callable[[], asyncio.AbstractEventLoop], block_s: float
) -> None:
    got, sender = probe(STREAM, GAP_S, block_s=block_s, loop=loop)
    sent = iter(sender.sent_ns[1:])
    for piece in got.body:
        for sent_ns in itertools.islice(sent, piece.data.count(b"\n\n")):
            # The kernel stamps a segment some microseconds after sendall was called.
            assert piece.earliest_ns - 1_000_000 < sent_ns <= piece.at_ns


def test_reads_of_one_segment_have_no_error() -> None:
    got, _ = probe(STREAM, GAP_S)
    exact = [piece for piece in got.body if piece.earliest_ns == piece.at_ns]
    assert len(exact) >= EVENTS - 1


def test_a_blocked_reader_admits_that_it_does_not_know() -> None:
    got, _ = probe(STREAM, GAP_S, block_s=4 * GAP_S)
    coalesced = [piece for piece in got.body if piece.data.count(b"\n\n") > 1]
    assert coalesced
    for piece in coalesced:
        events = piece.data.count(b"\n\n")
        assert piece.at_ns - piece.earliest_ns > (events - 1) * GAP_S * 1e9 * 0.9


def test_a_burst_that_wakes_the_loop_is_bounded_by_the_wake_up_and_not_by_the_wait() -> None:
    wait_s = 0.2
    burst = b"".join(STREAM[1:])
    # Several segments, sent with nothing in between, after a long silence.
    got, _ = probe([STREAM_HEAD, burst[:200], burst[200:400], burst[400:]], 0.0)
    slow, _ = probe([STREAM_HEAD + burst], wait_s)
    for each in (got, slow):
        assert each.content == b"".join(event(str(n)) for n in range(EVENTS)) + DONE
    (piece,) = slow.body
    assert piece.at_ns - piece.earliest_ns < wait_s * 1e9 / 10


def test_without_kernel_stamps_user_time_is_used_and_admitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "ask_for_stamps", lambda sock: False)
    got, _ = probe(STREAM, GAP_S)
    assert got.stamps is StampSource.USER
    assert got.lateness_ns == ()
    assert all(piece.at_ns == piece.read_ns for piece in got.body)
    assert got.complete_ns is not None


def test_where_the_kernel_tells_nothing_of_segments_bounds_are_wider_and_still_hold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kernel, "received", lambda sock: None)
    got, sender = probe(STREAM, GAP_S)
    assert got.stamps is StampSource.KERNEL
    for piece, sent_ns in zip(got.body, sender.sent_ns[1:], strict=False):
        assert piece.earliest_ns < piece.at_ns
        assert piece.earliest_ns - 1_000_000 < sent_ns


class Pair:
    """A stamped socket of a loop that the test turns by hand."""

    def __init__(self, loop: WatchingLoop) -> None:
        ours, self.theirs = _tcp_pair()
        self.socket_loop = loop
        self.records: list[Record] = []
        self.ends: list[OSError | None] = []
        self.socket = StampedSocket(ours, loop, StampClock(), self)

    def received(self, record: Record) -> None:
        self.records.append(record)

    def ended(self, error: OSError | None) -> None:
        self.ends.append(error)


def _tcp_pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.socket()
        kernel.ask_for_stamps(ours)
        ours.connect(listener.getsockname())
        theirs, _ = listener.accept()
    ours.setblocking(False)
    theirs.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return ours, theirs


@pytest.fixture
def pair() -> Iterator[Pair]:
    loop = WatchingLoop()
    made = Pair(loop)
    yield made
    made.socket.close()
    made.theirs.close()
    loop.close()


def _send(pair: Pair, *pieces: bytes) -> None:
    for piece in pieces:
        pair.theirs.sendall(piece)
    time.sleep(0.005)


def test_one_segment_is_exact_and_two_are_not(pair: Pair) -> None:
    _send(pair, b"a")
    pair.socket.read_now()
    _send(pair, b"b", b"c")
    pair.socket.read_now()
    _send(pair, b"d")
    pair.socket.read_now()
    assert [record.data for record in pair.records] == [b"a", b"bc", b"d"]
    assert [record.at_ns - record.earliest_ns > 0 for record in pair.records] == [False, True, False]
    # What came after a read cannot have come before it.
    assert pair.records[1].earliest_ns >= pair.records[0].read_ns


def test_segments_that_wake_the_loop_together_are_dated_by_the_wake_up(pair: Pair) -> None:
    wait_s = 0.1

    def burst() -> None:
        time.sleep(wait_s)
        _send(pair, b"a", b"b")

    watch = pair.socket_loop.watch
    started_ns = time.monotonic_ns()
    sender = threading.Thread(target=burst)
    sender.start()
    while not watch.select(5):
        pass
    sender.join()  # both are there; the loop is late to read them
    looked_ns = watch.empty_since(-1)
    pair.socket.read_now()
    (record,) = pair.records
    assert record.data == b"ab"
    assert started_ns <= looked_ns < record.earliest_ns
    assert record.at_ns - record.earliest_ns < wait_s * 1e9 / 2


def test_a_segment_with_the_end_of_the_connection_is_exact(pair: Pair) -> None:
    _send(pair, b"last")
    pair.theirs.shutdown(socket.SHUT_WR)
    time.sleep(0.005)
    pair.socket.read_now()
    pair.socket.read_now()
    (record,) = pair.records
    assert record.earliest_ns == record.at_ns
    assert pair.ends == [None]


def test_more_than_one_buffer_gives_way_to_others_and_arrives_whole(pair: Pair) -> None:
    data = bytes(range(256)) * (READ_BYTES // 64)
    sender = threading.Thread(target=pair.theirs.sendall, args=(data,))
    sender.start()
    turns = 0
    while sum(len(record.data) for record in pair.records) < len(data):
        pair.socket.read_now()
        turns += 1
    sender.join()
    assert b"".join(record.data for record in pair.records) == data
    assert turns > 1
    edges = [edge for record in pair.records for edge in (record.at_ns, record.read_ns)]
    assert sorted(edge for edge in edges[::2]) == edges[::2]
