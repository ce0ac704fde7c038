"""The log tells the truth; the server speaks HTTP/1.1 and TLS and ends when it should."""

import json
import signal
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.truth import (
    Fault,
    Kind,
    TruthServer,
    TruthServerError,
    build,
    loopback_certificate,
    parse_log,
)
from tests.truth.raw_client import request

pytestmark = [pytest.mark.cc, pytest.mark.usefixtures("compiler")]

MS = 1_000_000
STREAM = {"stream": True, "stream_options": {"include_usage": True}}
FAST = ("--ttft-ms", "3", "--itl-ms", "2", "--tokens", "5")


def one(server):
    server.stop()
    (true,) = server.log()
    return true


def sequence_of(reply):
    """The number by which a response names its line in the log."""
    events = [json.loads(event.removeprefix("data: ")) for event in reply.events if "{" in event]
    (identity,) = {event["id"] for event in events}
    return int(identity.removeprefix("chatcmpl-"))


def test_a_log_line_is_parsed():
    line = "7 probe-1 0 200 100 200 500 600 4 8 3 120 3 2 5 16 44"
    (true,) = parse_log(f"# head\n{line}\n#summary requests=1\n", "# head\n7 200 300 380 500\n")
    assert (true.sequence, true.request_id, true.kind, true.status) == (7, "probe-1", Kind.CHAT, 200)
    assert (true.received_ns, true.first_ns, true.last_ns, true.done_ns) == (100, 200, 500, 600)
    assert (true.chunks, true.tokens, true.latest_timer_ns, true.largest_gap_ns) == (4, 8, 3, 120)
    assert (true.fault, true.connection, true.nth_on_connection, true.in_flight) == (Fault.STALL, 2, 5, 16)
    assert true.longest_write_ns == 44
    assert true.gaps_ns == (100, 80, 120)


def test_what_never_happened_is_none():
    (true,) = parse_log("1 - 2 0 100 0 0 0 0 0 0 0 2 1 1 1 0\n")
    assert (true.request_id, true.first_ns, true.last_ns, true.done_ns) == (None, None, None, None)
    assert true.stamps_ns == ()


def test_stamps_are_in_order_and_never_early(start, connect):
    server = start(*FAST)
    before = time.monotonic_ns()
    reply = connect(server).ask(
        server.base_url + "/chat/completions", STREAM, headers="X-Request-ID: mine\r\n"
    )
    true = one(server)
    assert true.request_id == "mine"
    assert sequence_of(reply) == true.sequence == 1
    moments = [before, true.received_ns, *true.stamps_ns, true.done_ns, reply.reads[-1][0]]
    assert moments == sorted(moments)
    assert (true.first_ns, true.last_ns) == (true.stamps_ns[0], true.stamps_ns[-1])
    assert (true.chunks, true.tokens, len(true.stamps_ns)) == (5, 5, 5)
    due = [true.received_ns + (3 + 2 * i) * MS for i in range(5)]
    assert all(stamp >= at for stamp, at in zip(true.stamps_ns, due, strict=True))
    assert true.largest_gap_ns == max(true.gaps_ns)


def test_a_chunk_is_stamped_before_the_client_can_have_it(start, connect):
    server = start("--ttft-ms", "10", "--itl-ms", "30", "--tokens", "6", "--role", "none")
    reply = connect(server).ask(server.base_url + "/chat/completions", {"stream": True})
    true = one(server)
    arrivals = [at for at, _ in reply.reads]
    for stamp, following in pairwise([*true.stamps_ns, time.monotonic_ns()]):
        assert any(stamp < at <= following for at in arrivals)


@pytest.mark.parametrize(
    ("shape", "check"),
    [
        ({"fault": "stall", "stall-ms": 40}, lambda true: max(true.gaps_ns) >= 40 * MS),
        ({"tail-ms": 40}, lambda true: true.done_ns - true.last_ns >= 40 * MS),
        ({"one-piece": 1}, lambda true: set(true.stamps_ns) == {true.done_ns}),
        (
            {"events-per-write": 2},
            lambda true: [gap == 0 for gap in true.gaps_ns] == [True, False, True, False],
        ),
        ({"split-ms": 20}, lambda true: true.first_ns - true.received_ns >= (3 + 20) * MS),
        ({"tokens-per-chunk": 4}, lambda true: (true.chunks, true.tokens) == (2, 5)),
        ({"itl-ms": 20, "itl-jitter-ms": 15}, lambda true: len(set(true.gaps_ns)) == 4),
        ({"comment": "colon", "itl-ms": 10}, lambda true: true.last_ns - true.received_ns >= (3 + 40) * MS),
    ],
    ids=["stall", "tail", "one piece", "two events a write", "split", "tokens a chunk", "jitter", "comments"],
)
def test_the_stamps_show_the_timing_that_was_asked_for(start, connect, shape, check):
    server = start(*FAST)
    connect(server).ask(server.with_shape(**shape) + "/chat/completions", STREAM)
    true = one(server)
    assert check(true), true


def test_a_split_event_comes_in_two_reads(start, connect):
    server = start("--ttft-ms", "3", "--tokens", "1", "--role", "none", "--split-ms", "60")
    reply = connect(server).ask(server.base_url + "/chat/completions", STREAM)
    true = one(server)
    assert reply.reads[0][0] < true.first_ns < reply.reads[-1][0]


def test_connections_are_kept_and_counted(start, connect):
    server = start(*FAST)
    first, second = connect(server), connect(server)
    for client in (first, first, second):
        client.ask(server.base_url + "/chat/completions", STREAM)
    closing = second.ask(server.with_shape(close=1) + "/chat/completions", STREAM)
    assert "Connection: close" in closing.head
    assert second._socket.recv(1) == b""
    asked = first.ask(server.base_url + "/chat/completions", STREAM, headers="Connection: close\r\n")
    assert asked.ended == "complete"
    assert first._socket.recv(1) == b""
    server.stop()
    assert [(true.connection, true.nth_on_connection) for true in server.log()] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
        (1, 3),
    ]


def test_requests_in_pieces_pipelined_and_chunked(start, connect):
    server = start(*FAST)
    client = connect(server)
    whole = request(server.base_url + "/chat/completions", STREAM)
    for byte in whole:
        client.send(bytes([byte]))
    client.send(whole)
    content = json.dumps(STREAM).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (content[:9], content[9:]))
    client.send(
        b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"
    )
    replies = [client.read() for _ in range(3)]
    assert [sequence_of(reply) for reply in replies] == [1, 2, 3]
    assert {len(reply.events) for reply in replies} == {8}


def test_a_client_that_leaves_is_logged(start, connect):
    server = start("--ttft-ms", "5000")
    client = connect(server)
    client.send(request(server.base_url + "/chat/completions", STREAM))
    client.__exit__()
    assert connect(server).ask(server.with_shape(ttft_ms=0) + "/chat/completions", STREAM).ended == "complete"
    server.stop()
    assert {true.status for true in server.log()} == {-1, 200}


def test_a_timer_of_a_closed_connection_does_not_fire_on_the_next_one(start, connect):
    server = start("--itl-ms", "1", "--tokens", "2")
    for _ in range(3):
        leaving = connect(server)
        leaving.send(request(server.with_shape(ttft_ms=40) + "/chat/completions", STREAM))
        time.sleep(0.01)
        leaving.__exit__()
        following = connect(server)
        assert following.ask(server.with_shape(ttft_ms=120) + "/chat/completions", STREAM).ended == "complete"
    server.stop()
    answered = [true for true in server.log() if true.status == 200]
    assert len(answered) == 3
    assert all(true.first_ns - true.received_ns >= 120 * MS for true in answered)


def test_a_slow_reader_gets_everything_before_the_close(start, connect):
    server = start("--ttft-ms", "0", "--itl-ms", "0", "--tokens", "20", "--pad", "500000", "--close")
    client = connect(server)
    client.send(request(server.base_url + "/chat/completions", STREAM))
    time.sleep(0.2)  # the socket buffers are full, the rest waits in the server
    assert len(client.read().events) == 23


def test_many_streams_at_once_are_paired_with_their_lines(start, connect):
    server = start("--ttft-ms", "50", "--itl-ms", "2", "--tokens", "8")
    clients = [connect(server) for _ in range(100)]
    for number, client in enumerate(clients):
        client.send(request(server.base_url + "/chat/completions", STREAM, f"X-Request-ID: r{number}\r\n"))
    named = {f"r{number}": sequence_of(client.read()) for number, client in enumerate(clients)}
    server.stop()
    assert {true.request_id: true.sequence for true in server.log()} == named
    assert max(true.in_flight for true in server.log()) > 50


def test_drawn_faults_have_their_share_and_the_seed_repeats_them(start, connect):
    def faults(seed: str) -> list[Fault]:
        server = start(
            "--ttft-ms", "0", "--tokens", "1", "--err-rate", "0.3", "--trunc-rate", "0.2", "--seed", seed
        )
        client = connect(server)
        for _ in range(300):
            client.ask(server.base_url + "/chat/completions", STREAM)
        server.stop()
        return [true.fault for true in server.log()]

    drawn = faults("1")
    assert 60 < drawn.count(Fault.ERR) < 120
    assert 30 < drawn.count(Fault.TRUNC) < 90
    assert drawn == faults("1") != faults("2")


def test_tls_has_the_same_shapes_and_stamps(start, connect):
    with loopback_certificate() as (chain, key, ca):
        server = start(*FAST, certificate=(chain, key))
        before = time.monotonic_ns()
        client = connect(server, ca_file=str(ca))
        replies = [client.ask(server.base_url + "/chat/completions", STREAM) for _ in range(2)]
        big = client.ask(server.with_shape(pad=300_000) + "/chat/completions", STREAM)
        cut = client.ask(server.with_shape(fault="cut") + "/chat/completions", STREAM)
        server.stop()
    assert [sequence_of(reply) for reply in replies] == [1, 2]
    assert len(big.body) > 5 * 300_000
    assert cut.ended == "closed"
    moments = [
        before,
        *(stamp for true in server.log() for stamp in (true.received_ns, *true.stamps_ns, true.done_ns)),
    ]
    assert moments == sorted(moments)


def test_a_wrong_certificate_is_an_error_at_start(tmp_path: Path):
    (tmp_path / "empty.pem").touch()
    with (
        pytest.raises(TruthServerError, match="cannot serve TLS"),
        TruthServer(certificate=(tmp_path / "empty.pem", tmp_path / "empty.pem")),
    ):
        pass


@pytest.mark.parametrize(
    "options", [("--nonsense", "1"), ("--tokens", "many"), ("--role", "boss"), ("--log",)]
)
def test_a_bad_option_is_an_error_at_start(options):
    done = subprocess.run([build(), *options], capture_output=True, text=True, check=False, timeout=10)
    assert done.returncode == 2
    assert options[0] in done.stderr


def test_help_names_every_option_of_both_kinds():
    text = subprocess.run([build(), "--help"], capture_output=True, text=True, check=True, timeout=10).stdout
    for option in (
        "--port",
        "--tls-cert",
        "--max-seconds",
        "--fault none|err|cut",
        "--comment",
        "--split-ms",
    ):
        assert option in text


def test_it_listens_on_loopback_only(start):
    server = start()
    listening = [
        line.split()[1]
        for line in Path("/proc/net/tcp").read_text().splitlines()
        if line.split()[1].endswith(f":{server.port:04X}") and line.split()[3] == "0A"
    ]
    assert listening == [f"0100007F:{server.port:04X}"]


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "--max-seconds"])
def test_it_ends_by_signal_and_by_itself(how, tmp_path: Path):
    options = [
        "--port",
        "0",
        "--log",
        str(tmp_path / "log"),
        *(["--max-seconds", "0.2"] if how[0] == "-" else []),
    ]
    with subprocess.Popen([build(), *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline().strip().isdigit()
        if how[0] != "-":
            process.send_signal(signal.Signals[how])
        process.communicate(timeout=10)
    assert process.returncode == 0
    assert "#summary requests=0" in (tmp_path / "log").read_text()
