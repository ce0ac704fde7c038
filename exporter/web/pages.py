"""The pages and what they answer."""

import asyncio
import math
from datetime import UTC, datetime

from aiohttp import hdrs, web
from aiohttp.typedefs import Handler
from jinja2 import Environment, PackageLoader

from exporter.web.answers import Answers, ProbeQuery
from exporter.web.encoding import accepts_gzip
from exporter.web.limits import Limits
from exporter.web.scrapes import Scrapes

SERVER_NAME = "inference-exporter"
_MOST_DIGITS = 18
"""Of a result's id; int() raises on more than 4,300 of them."""
SCRAPE_TIMEOUT = "X-Prometheus-Scrape-Timeout-Seconds"
HEADERS = {
    hdrs.SERVER: SERVER_NAME,
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


class Pages:
    """One handler a page; no page trusts the Host header or reads a request body."""

    def __init__(self, answers: Answers, limits: Limits) -> None:
        self._answers = answers
        self._limits = limits
        self._scrapes = Scrapes(answers.render, most=limits.scrapes)
        templates = Environment(loader=PackageLoader("exporter.web"), autoescape=True)
        self._index = templates.get_template("index.html")
        self._history = templates.get_template("history.html")

    def application(self) -> web.Application:
        """Return the application with every page on its path."""
        app = web.Application(middlewares=[explain])
        app.on_response_prepare.append(_harden)
        app.router.add_get("/", self.index)
        app.router.add_get("/metrics", self.metrics)
        app.router.add_get("/config", self.config)
        app.router.add_get("/probe", self.probe)
        app.router.add_get("/history", self.history)
        app.router.add_get("/-/healthy", self.healthy)
        app.router.add_get("/-/ready", self.ready)
        app.router.add_post("/-/reload", self.reload)
        return app

    def close(self) -> None:
        """Let go of the rendering thread."""
        self._scrapes.close()

    async def index(self, _request: web.Request) -> web.Response:
        """Answer with links, the version and the state."""
        page = self._index.render(version=self._answers.version, verdict=self._answers.ready())
        return web.Response(text=page, content_type="text/html")

    async def metrics(self, request: web.Request) -> web.StreamResponse:
        """Answer with all metrics, in the format and encoding that the client prefers."""
        with self._scrapes.place() as is_free:
            if not is_free:
                text = f"{self._limits.scrapes} scrapes are in service; scrape less often\n"
                return web.Response(status=503, text=text, headers={hdrs.RETRY_AFTER: "1"})
            packed = accepts_gzip(request.headers.get(hdrs.ACCEPT_ENCODING, ""))
            exposition = await self._scrapes.render(request.headers.get(hdrs.ACCEPT, ""), packed=packed)
            headers = {hdrs.CONTENT_TYPE: exposition.content_type, hdrs.VARY: "Accept, Accept-Encoding"}
            if packed:
                headers[hdrs.CONTENT_ENCODING] = "gzip"
            response = web.Response(body=exposition.body, headers=headers)
            await self._send(request, response)
            return response

    async def config(self, _request: web.Request) -> web.Response:
        """Answer with the configuration in force."""
        return web.Response(text=self._answers.config())

    async def probe(self, request: web.Request) -> web.Response:
        """Run a configured probe and answer with its metrics alone, or 4xx saying how to ask."""
        query = request.query
        if not query.get("target"):
            text = "name a configured target: /probe?target=NAME&probe=NAME, and &debug=true for people\n"
            return web.Response(status=400, text=text)
        answer = await self._answers.probe(
            ProbeQuery(
                target=query["target"],
                probe=query.get("probe"),
                scrape_timeout_s=_seconds(request.headers.get(SCRAPE_TIMEOUT)),
                accept=request.headers.get(hdrs.ACCEPT, ""),
                debug=query.get("debug", "").lower() in {"1", "true"},
            )
        )
        headers = {hdrs.CONTENT_TYPE: answer.content_type}
        if answer.status == 503:
            headers[hdrs.RETRY_AFTER] = "1"
        return web.Response(status=answer.status, body=answer.body, headers=headers)

    async def history(self, request: web.Request) -> web.Response:
        """Answer with the list of kept results, or with the report of one."""
        number = request.query.get("id", "")
        if not number:
            page = self._history.render(pasts=self._answers.history(), time=_time)
            return web.Response(text=page, content_type="text/html")
        is_id = number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS
        text = self._answers.past(int(number)) if is_id else None
        if text is None:
            return web.Response(
                status=404, text="this result is not kept any more; /history lists the others\n"
            )
        return web.Response(text=text)

    async def healthy(self, _request: web.Request) -> web.Response:
        """Answer that the event loop turns."""
        return web.Response(text="healthy\n")

    async def ready(self, _request: web.Request) -> web.Response:
        """Answer 200 when the probes do their work, else 503, and why."""
        verdict = self._answers.ready()
        state = "ready" if verdict.ready else "not ready"
        return web.Response(status=200 if verdict.ready else 503, text=f"{state}: {verdict.reason}\n")

    async def reload(self, request: web.Request) -> web.Response:
        """Load the configuration again; answer 400 with every problem when the old one stays in force."""
        if hdrs.ORIGIN in request.headers:
            # Only browsers send it: some web page made its visitor's browser ask.
            return web.Response(status=403, text="reload is not for web pages; use curl -X POST, or SIGHUP\n")
        reloaded = await self._answers.reload()
        return web.Response(
            status=200 if reloaded.is_accepted else 400, text=reloaded.text.rstrip("\n") + "\n"
        )

    async def _send(self, request: web.Request, response: web.Response) -> None:
        """Send while the place is held, and cut off a client that does not take it; one may also go away."""
        try:
            async with asyncio.timeout(self._limits.send_s):
                await response.prepare(request)
                await response.write_eof()
        except (TimeoutError, ConnectionError):
            if request.transport is not None:
                request.transport.abort()


def _seconds(text: str | None) -> float | None:
    """Return a header's seconds, or None for anything but a number above 0."""
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


def _time(unix_s: float) -> str:
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%d %H:%M:%S")


@web.middleware
async def explain(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Say what to do instead where a path or a method does not exist."""
    try:
        return await handler(request)
    except web.HTTPNotFound:
        return web.Response(status=404, text="there is no such page; / lists those that there are\n")
    except web.HTTPMethodNotAllowed as error:
        allowed = ", ".join(sorted(error.allowed_methods))
        text = f"this page answers to {allowed} only\n"
        return web.Response(status=405, text=text, headers={hdrs.ALLOW: allowed})


async def _harden(_request: web.BaseRequest, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)
