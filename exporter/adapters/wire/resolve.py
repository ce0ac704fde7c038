"""Host names to addresses, without ever holding anybody else up."""

import asyncio
import contextlib
import ipaddress
import socket
import threading
from collections.abc import Callable

from exporter.adapters.wire.faults import WireError, reason
from exporter.model.transcript import Fault

AddressInfo = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int]]
Lookup = Callable[[str, int], list[AddressInfo]]
MAX_LOOKUPS = 32


def system_lookup(host: str, port: int) -> list[AddressInfo]:
    """Ask the C library; blocks for as long as it likes."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [(int(family), int(kind), proto, name, address) for family, kind, proto, name, address in found]  # type: ignore[misc]


class Resolver:
    """Looks each name up in a thread of its own; requests for the same name share one.

    A thread, not a pool's: a resolver that hangs takes one thread for its name, holds up no other name, and,
    being a daemon, does not hold up the exit of the program.
    """

    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup
        self._pending: dict[tuple[str, int], asyncio.Future[list[AddressInfo]]] = {}

    async def resolve(self, host: str, port: int) -> list[AddressInfo]:
        """Return the addresses of a host, in the order to try.  Raises WireError(DNS)."""
        literal = _literal(host, port)
        if literal is not None:
            return literal
        pending = self._pending.get((host, port))
        if pending is None:
            pending = self._start(host, port)
        try:
            # The lookup cannot be stopped, and others may wait for it.
            found = await asyncio.shield(pending)
        except (OSError, UnicodeError) as error:
            raise WireError(Fault.DNS, f"cannot resolve {host}: {reason(error)}") from None
        if not found:
            raise WireError(Fault.DNS, f"cannot resolve {host}: no address")
        return found

    def _start(self, host: str, port: int) -> asyncio.Future[list[AddressInfo]]:
        if len(self._pending) >= MAX_LOOKUPS:
            raise WireError(Fault.DNS, f"cannot resolve {host}: {MAX_LOOKUPS} lookups are unanswered already")
        loop = asyncio.get_running_loop()
        pending: asyncio.Future[list[AddressInfo]] = loop.create_future()
        self._pending[host, port] = pending

        def settle(found: list[AddressInfo], error: OSError | UnicodeError | None) -> None:
            self._pending.pop((host, port), None)
            if pending.done():
                return
            if error is None:
                pending.set_result(found)
            else:
                pending.set_exception(error)
                pending.exception()  # those who waited may be gone

        def look() -> None:
            found: list[AddressInfo] = []
            failure: OSError | UnicodeError | None = None
            try:
                found = self._lookup(host, port)
            except (OSError, UnicodeError) as error:
                failure = error
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(settle, found, failure)

        threading.Thread(target=look, name=f"resolve {host}", daemon=True).start()
        return pending


def _literal(host: str, port: int) -> list[AddressInfo] | None:
    """Return the one entry of a host that is an address, or None."""
    try:
        version = ipaddress.ip_address(host.partition("%")[0]).version
    except ValueError:
        return None
    if version == 4:
        return [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port))]
    if "%" in host:
        return None
    return [(socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (host, port, 0, 0))]
