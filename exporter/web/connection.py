"""One client's connection: aiohttp's, without its banner and without messages of exceptions."""

import asyncio
import logging

from aiohttp import web

from exporter.model.crash import describe
from exporter.web.pages import HEADERS

log = logging.getLogger(__name__)


class Connection(web.RequestHandler):
    """Answers what never reaches a page: malformed requests, and requests whose page raised."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,  # noqa: ARG002 - aiohttp's signature; the text may hold parts of the request
    ) -> web.StreamResponse:
        """Return an error page that gives nothing away, and log where the exception came from."""
        if status == 500 and exc is not None:
            log.error("request failed: path=%r error=%s", request.path, describe(exc))
        if request.writer.output_size > 0:
            # aiohttp's way to say that half a response is out and the connection must go.
            raise ConnectionError("half a response is sent")
        text = (
            "the request could not be understood\n"
            if status == 400
            else "the page failed; the log says where\n"
        )
        response = web.Response(status=status, text=text, headers=HEADERS)
        response.force_close()
        return response


class Refusal(asyncio.Protocol):
    """Closes a connection that is one too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it before anything is read."""
        if isinstance(transport, asyncio.Transport):
            transport.abort()
