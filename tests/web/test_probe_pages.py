"""``/probe`` and ``/history``: what they pass on and what they refuse."""

from collections.abc import Callable

from exporter.web.answers import ProbeAnswer, ProbeQuery
from tests.web.web_site import ANSWERS


async def test_a_probe_is_asked_for_by_name(serve: Callable[..., object]) -> None:
    site = await serve()
    status, response, body = await site.ask(
        "GET", "/probe?target=a&probe=b&debug=true", X_Prometheus_Scrape_Timeout_Seconds="10"
    )
    asked = ProbeQuery(target="a", probe="b", scrape_timeout_s=10.0, accept="*/*", debug=True)
    assert (status, body.decode()) == (200, repr(asked))
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")


async def test_a_scrape_timeout_that_is_none_is_passed_over(serve: Callable[..., object]) -> None:
    site = await serve()
    for odd in ("soon", "-1", "0", "nan", "inf"):
        _, _, body = await site.ask("GET", "/probe?target=a", X_Prometheus_Scrape_Timeout_Seconds=odd)
        assert b"scrape_timeout_s=None" in body, odd


async def test_without_a_target_it_says_how_to_ask(serve: Callable[..., object]) -> None:
    site = await serve()
    status, _, body = await site.ask("GET", "/probe")
    assert status == 400
    assert b"/probe?target=NAME" in body


async def test_a_busy_target_is_to_be_asked_again(serve: Callable[..., object]) -> None:
    async def busy(query: ProbeQuery) -> ProbeAnswer:
        return ProbeAnswer(503, b"busy\n", "text/plain")

    site = await serve(probe=busy)
    status, response, _ = await site.ask("GET", "/probe?target=a")
    assert (status, response.headers["Retry-After"]) == (503, "1")


async def test_the_history_lists_results_and_shows_one(serve: Callable[..., object]) -> None:
    site = await serve()
    status, _, page = await site.ask("GET", "/history")
    assert status == 200
    assert b'<a href="history?id=7">auth</a>' in page
    assert b"a&lt;b" in page
    assert (await site.ask("GET", "/history?id=7"))[2] == b"the report\n"
    for wrong in ("8", "x", "-7", "%D9%A7", "7 ", "7" * 5000):
        assert (await site.ask("GET", f"/history?id={wrong}"))[0] == 404, wrong
    empty = await serve(history=lambda: ())
    assert b"No probe has ended yet." in (await empty.ask("GET", "/history"))[2]
    assert ANSWERS.past(7) is not None
