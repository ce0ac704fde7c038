"""Responses cut at every byte, and what is not HTTP."""

import pytest

from exporter.adapters.wire.faults import WireError
from exporter.adapters.wire.http1 import ResponseParser
from exporter.model.transcript import Fault

OK = b"HTTP/1.1 200 OK\r\n"
BODIES = {
    "content-length": (OK + b"Content-Length: 5\r\n\r\nhello", b"hello", 200, True),
    "empty": (OK + b"Content-Length: 0\r\n\r\n", b"", 200, True),
    "chunked": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n",
        b"hello",
        200,
        True,
    ),
    "chunk-extension-and-trailer": (
        OK + b"Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX-T: 1\r\n\r\n",
        b"hello",
        200,
        True,
    ),
    "no-content": (b"HTTP/1.1 204 No Content\r\n\r\n", b"", 204, True),
    "continue-first": (
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nhi",
        b"hi",
        200,
        True,
    ),
    "early-hints-first": (
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nhi",
        b"hi",
        200,
        True,
    ),
    "close": (OK + b"Connection: close\r\nContent-Length: 2\r\n\r\nhi", b"hi", 200, False),
    "http-1.0": (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", b"hi", 200, False),
    "error-with-body": (b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nhi", b"hi", 500, True),
}


def fed(parser: ResponseParser, data: bytes) -> bytes:
    parser.feed(data)
    return parser.take_body()


@pytest.mark.parametrize("name", BODIES)
def test_a_response_cut_anywhere_is_the_same_response(name: str) -> None:
    raw, body, status, reusable = BODIES[name]
    for cut in range(len(raw) + 1):
        parser = ResponseParser()
        got = fed(parser, raw[:cut]) + fed(parser, raw[cut:])
        assert (got, parser.status, parser.complete, parser.reusable) == (body, status, True, reusable), cut


@pytest.mark.parametrize("name", BODIES)
def test_a_response_byte_by_byte_completes_with_its_last_byte(name: str) -> None:
    raw, body, _, _ = BODIES[name]
    parser = ResponseParser()
    got = b""
    for position in range(len(raw)):
        assert not parser.complete
        got += fed(parser, raw[position : position + 1])
    assert parser.complete
    assert got == body


def test_a_body_without_framing_ends_with_the_connection() -> None:
    parser = ResponseParser()
    assert fed(parser, OK + b"Content-Type: text/html\r\n\r\n<p>") == b"<p>"
    assert fed(parser, b"hi") == b"hi"
    assert not parser.complete
    assert parser.end()
    assert not parser.reusable


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(OK + b"Content-Length: 5\r\n\r\nhel", id="content-length"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", id="chunked"),
        pytest.param(OK + b"Content-", id="headers"),
        pytest.param(b"HTTP/1.1 100 Continue\r\n\r\n", id="interim-only"),
    ],
)
def test_an_end_inside_a_framed_message_does_not_complete_it(raw: bytes) -> None:
    parser = ResponseParser()
    parser.feed(raw)
    assert not parser.end()


def test_headers_are_those_of_the_final_response_in_lower_case_without_trailers() -> None:
    parser = ResponseParser()
    parser.feed(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK)
    parser.feed(b"X-A: 1\r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Trailer: 3\r\n\r\n")
    assert parser.headers == [("x-a", "1"), ("x-a", "2"), ("transfer-encoding", "chunked")]


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"SSH-2.0-OpenSSH_9.2\r\n", id="another-protocol"),
        pytest.param(b"\x16\x03\x01\x02\x00\x01\x00\x01", id="tls"),
        pytest.param(OK + b"Content-Length: x\r\n\r\n", id="bad-length"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", id="bad-chunk"),
        pytest.param(OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n", id="two-framings"),
        pytest.param(b"HTTP/1.1 101 Switching\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n", id="upgrade"),
    ],
)
def test_what_is_not_a_response_is_a_protocol_fault(raw: bytes) -> None:
    with pytest.raises(WireError) as raised:
        ResponseParser().feed(raw)
    assert raised.value.fault is Fault.PROTOCOL


@pytest.mark.parametrize("surplus", [b"x", b"HTTP/1.1 200 OK\r\n\r\n", b"\x00"])
@pytest.mark.parametrize("together", [True, False], ids=["one-read", "two-reads"])
def test_bytes_after_the_message_make_the_connection_unusable(surplus: bytes, together: bool) -> None:
    parser = ResponseParser()
    raw = OK + b"Content-Length: 2\r\n\r\nhi"
    if together:
        assert fed(parser, raw + surplus) == b"hi"
    else:
        assert fed(parser, raw) + fed(parser, surplus) == b"hi"
    assert parser.complete
    assert parser.status == 200
    assert not parser.reusable
