"""What the Linux kernel tells about a TCP socket: receive stamps, and what has come in so far."""

import socket
import struct
import sys
from collections.abc import Iterable
from typing import NamedTuple

# The socket module has no name for it.  The few architectures with another number answer setsockopt with an
# error or give no stamp; then the exchange says that its stamps are user time.
SO_TIMESTAMPNS = 35
_TIMESPEC = struct.Struct("@ll")
ANCILLARY_BYTES = 128

# struct tcp_info of linux/tcp.h: tcpi_state, tcpi_bytes_received, tcpi_data_segs_in.
_TCP_INFO_BYTES = 156
_BYTES_RECEIVED = struct.Struct("=Q")
_BYTES_RECEIVED_AT = 128
_DATA_SEGS_IN = struct.Struct("=I")
_DATA_SEGS_IN_AT = 152
_CLOSE_WAIT = 8
_TCP_INFO: int | None = getattr(socket, "TCP_INFO", None) if sys.platform == "linux" else None


class Received(NamedTuple):
    """What a connection has taken in since it was opened, read by the program or not."""

    payload_bytes: int
    segments: int
    """Segments with data, duplicates included."""


def ask_for_stamps(sock: socket.socket) -> bool:
    """Switch kernel receive stamps on; False where the platform has none."""
    if sys.platform != "linux":
        return False
    try:
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    except OSError:
        return False
    return True


def stamp_of(ancillary: Iterable[tuple[int, int, bytes]]) -> int | None:
    """Return the wall-clock nanoseconds at which the last segment of a read arrived, or None."""
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and len(data) >= _TIMESPEC.size:
            seconds, nanoseconds = _TIMESPEC.unpack_from(data)
            return int(seconds) * 1_000_000_000 + int(nanoseconds)
    return None


def received(sock: socket.socket) -> Received | None:
    """Return what has come in on the socket, or None where the kernel does not tell."""
    if _TCP_INFO is None:
        return None
    try:
        info = sock.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _TCP_INFO_BYTES)
    except OSError:
        return None
    if len(info) < _TCP_INFO_BYTES:
        return None
    (payload_bytes,) = _BYTES_RECEIVED.unpack_from(info, _BYTES_RECEIVED_AT)
    (segments,) = _DATA_SEGS_IN.unpack_from(info, _DATA_SEGS_IN_AT)
    # The kernel counts the peer's FIN as one more byte.
    return Received(payload_bytes - (info[0] == _CLOSE_WAIT), segments)
