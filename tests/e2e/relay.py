"""Forwards connections to a server, or delays or refuses them: a network that a test can spoil."""

import asyncio
import contextlib
import threading
from typing import Self


class Relay:
    """Listens on a port of its own, on a thread of its own."""

    def __init__(self, port: int) -> None:
        self.refuse = False
        """Whether connections are closed as soon as they come or are used."""
        self.delay_s = 0.0
        """Before what the client sent is passed on."""
        self._server_port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._listening = self._call(asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(20)

    async def _close(self) -> None:
        self._listening.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, onward = await asyncio.open_connection("127.0.0.1", self._server_port)
        try:
            await asyncio.gather(
                self._pass(reader, onward, spoiled=True), self._pass(there, writer, spoiled=False)
            )
        finally:
            for one in (writer, onward):
                one.close()
                with contextlib.suppress(OSError):
                    await one.wait_closed()

    async def _pass(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, spoiled: bool) -> None:
        while data := await source.read(65536):
            if spoiled:
                await asyncio.sleep(self.delay_s)
                if self.refuse:
                    break
            sink.write(data)
            await sink.drain()
        sink.close()
