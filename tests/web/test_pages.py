import gzip

import pytest

from exporter.model.readiness import Verdict
from exporter.web.answers import Reloaded


@pytest.mark.parametrize(
    ("method", "path", "status", "text"),
    [
        pytest.param("GET", "/-/healthy", 200, b"healthy\n", id="healthy answers"),
        pytest.param("GET", "/-/ready", 200, b"ready: probes are finishing\n", id="ready says why"),
        pytest.param("POST", "/-/reload", 200, b"1 probe added\n", id="reload says what changed"),
        pytest.param(
            "GET", "/-/reload", 405, b"this page answers to POST only\n", id="reload by GET is refused"
        ),
        pytest.param(
            "POST", "/metrics", 405, b"this page answers to GET, HEAD only\n", id="metrics by POST is refused"
        ),
        pytest.param("GET", "/config", 200, b"targets: []\n", id="config is what the service says"),
        pytest.param(
            "GET",
            "/nope",
            404,
            b"there is no such page; / lists those that there are\n",
            id="unknown pages are 404",
        ),
        pytest.param("HEAD", "/-/healthy", 200, b"", id="HEAD has no body"),
    ],
)
async def test_answers(serve, method: str, path: str, status: int, text: bytes) -> None:
    site = await serve()
    assert (await site.ask(method, path))[::2] == (status, text)


async def test_not_ready_is_503_with_the_reason(serve) -> None:
    site = await serve(ready=lambda: Verdict(False, "no probe has finished yet"))
    assert (await site.ask("GET", "/-/ready"))[::2] == (503, b"not ready: no probe has finished yet\n")


async def test_a_refused_reload_is_400_with_every_problem(serve) -> None:
    async def refuse() -> Reloaded:
        return Reloaded(False, "a.yml:3: targets[0].modle: unknown key\na.yml:9: probes: empty\n")

    site = await serve(reload=refuse)
    status, _, body = await site.ask("POST", "/-/reload")
    assert status == 400
    assert body == b"a.yml:3: targets[0].modle: unknown key\na.yml:9: probes: empty\n"


async def test_a_web_page_cannot_ask_for_a_reload(serve) -> None:
    asked = []

    async def note() -> Reloaded:
        asked.append(1)
        return Reloaded(True, "")

    site = await serve(reload=note)
    assert (await site.ask("POST", "/-/reload", Origin="http://evil.example"))[0] == 403
    assert asked == []


async def test_the_index_links_the_pages_and_escapes_what_it_shows(serve) -> None:
    site = await serve(ready=lambda: Verdict(False, "the last one was <script>a&b</script>"))
    status, response, body = await site.ask("GET", "/")
    assert status == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    page = body.decode()
    assert "Version 1.2.3. Not ready: the last one was &lt;script&gt;a&amp;b&lt;/script&gt;." in page
    for path in ("metrics", "config", "-/healthy", "-/ready"):
        assert f'href="{path}"' in page
        assert (await site.ask("GET", f"/{path}"))[0] in {200, 503}


TEXT = "text/plain; version=0.0.4; charset=utf-8"
OPEN = "application/openmetrics-text; version=1.0.0; charset=utf-8"


@pytest.mark.parametrize(
    ("accept", "encoding", "content_type", "is_packed"),
    [
        pytest.param("", "", TEXT, False, id="text, plain, when nothing is asked for"),
        pytest.param("", "gzip", TEXT, True, id="text, gzipped"),
        pytest.param(
            "application/openmetrics-text;version=1.0.0", "gzip", OPEN, True, id="OpenMetrics, gzipped"
        ),
        pytest.param("", "gzip;q=0", TEXT, False, id="gzip forbidden"),
    ],
)
async def test_metrics_come_as_asked_for(serve, accept, encoding, content_type, is_packed) -> None:
    site = await serve()
    status, response, body = await site.ask("GET", "/metrics", Accept=accept, Accept_Encoding=encoding)
    assert status == 200
    assert response.headers["Content-Type"] == content_type
    assert response.headers.get("Content-Encoding") == ("gzip" if is_packed else None)
    assert response.headers["Vary"] == "Accept, Accept-Encoding"
    plain = gzip.decompress(body) if is_packed else body
    assert plain == (b"# EOF\n" if content_type == OPEN else b"up 1\n" * 1000)


async def test_head_of_metrics_has_the_length_and_no_body(serve) -> None:
    site = await serve()
    status, response, body = await site.ask("HEAD", "/metrics", Accept_Encoding="identity")
    assert (status, body) == (200, b"")
    assert response.headers["Content-Length"] == "5000"


@pytest.mark.parametrize("path", ["/", "/metrics", "/nope", "/-/ready"])
async def test_every_answer_is_hardened_and_names_no_versions(serve, path) -> None:
    site = await serve()
    _, response, _ = await site.ask("GET", path)
    assert response.headers["Server"] == "inference-exporter"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Frame-Options"] == "DENY"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")


async def test_a_page_that_raises_gives_nothing_away(serve, caplog) -> None:
    def explode(accept: str):
        raise RuntimeError("Bearer sk-very-secret")

    site = await serve(render=explode)
    status, response, body = await site.ask("GET", "/metrics")
    assert (status, body) == (500, b"the page failed; the log says where\n")
    assert response.headers["Server"] == "inference-exporter"
    assert "sk-very-secret" not in caplog.text
    assert "request failed: path='/metrics' error=RuntimeError at " in caplog.text
    assert (await site.ask("GET", "/-/healthy"))[0] == 200
