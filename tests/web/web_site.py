"""What the pages under test are given, and a client for them."""

import aiohttp

from exporter.model.readiness import Verdict
from exporter.web.answers import Answers, Exposition, Past, ProbeAnswer, ProbeQuery, Reloaded


def render(accept: str) -> Exposition:
    if "openmetrics" in accept:
        return Exposition(b"# EOF\n", "application/openmetrics-text; version=1.0.0; charset=utf-8")
    return Exposition(b"up 1\n" * 1000, "text/plain; version=0.0.4; charset=utf-8")


async def accept_reload() -> Reloaded:
    return Reloaded(True, "1 probe added")


PAST = Past(id=7, target="a<b", probe="short", outcome="auth", total_s=None, finished_unix_s=1.7e9)


async def probe(query: ProbeQuery) -> ProbeAnswer:
    return ProbeAnswer(200, repr(query).encode(), "text/plain; version=0.0.4; charset=utf-8")


ANSWERS = Answers(
    version="1.2.3",
    render=render,
    ready=lambda: Verdict(True, "probes are finishing"),
    reload=accept_reload,
    config=lambda: "targets: []\n",
    probe=probe,
    history=lambda: (PAST,),
    past=lambda id_: "the report\n" if id_ == 7 else None,
)


class Site:
    """A running server and a client for it."""

    def __init__(self, port: int, client: aiohttp.ClientSession) -> None:
        self.port = port
        self.client = client

    async def ask(self, method: str, path: str, **headers: str) -> tuple[int, aiohttp.ClientResponse, bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.client.request(
            method, f"http://127.0.0.1:{self.port}{path}", headers=named
        ) as response:
            return response.status, response, await response.read()
