"""What goes wrong on the wire, as a value that can be raised below the adapter's surface."""

import os
import socket
import ssl

from exporter.model.transcript import Fault


class WireError(Exception):
    """Ends an exchange; ``detail`` is one line for people, without secrets."""

    def __init__(self, fault: Fault, detail: str) -> None:
        super().__init__(f"{fault}: {detail}")
        self.fault = fault
        self.detail = detail


def reason(error: BaseException) -> str:
    """Return an error's own words, in one short line.

    asyncio puts the address into the words of a failed connect, so for those the system's words are taken.
    """
    words = str(error) or type(error).__name__
    if isinstance(error, OSError) and error.errno is not None:
        own = isinstance(error, (socket.gaierror, ssl.SSLError))
        words = (error.strerror or words) if own else os.strerror(error.errno)
    return " ".join(words.split())[:200]
