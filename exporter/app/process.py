"""The service as a process: logging, the event loop, the exit code."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from exporter.adapters.wire.loop import new_event_loop
from exporter.app.service import Service
from exporter.model.configuration import Configuration, WebOptions
from exporter.web.server import ListenError

log = logging.getLogger(__name__)


def serve(
    load: Callable[[], Configuration],
    *,
    discover: Callable[[], Configuration | None] | None = None,
    listen: WebOptions | None,
    log_level: str,
) -> int:
    """Run the service in this process and return its exit code.

    Raises ConfigError where the first configuration cannot be used.
    """
    start_logging(log_level)
    configuration = load()
    return run_to_the_end(Service(load, configuration, discover=discover, listen=listen).run())


def start_logging(level: str) -> None:
    """Write one line an event to standard error; our own events, and of libraries what they warn of."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    # At debug level the SDK logs request bodies, which are prompts; at info, httpx2 a line a request.
    logging.getLogger("exporter").setLevel(level.upper())


def run_to_the_end(main: Coroutine[Any, Any, int]) -> int:
    """Run the coroutine on a loop that stamps its sockets; 1 where the address cannot be listened on.

    ``main`` returns how many runs ignored their cancellation: closing the loop would wait for them for
    ever, so with any left the process ends without it.
    """
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        try:
            abandoned = runner.run(main)
        except ListenError as error:
            log.error("%s", error)
            return 1
        if abandoned:
            log.warning("stopped with %d runs that would not end", abandoned)
            logging.shutdown()
            os._exit(0)
    return 0
