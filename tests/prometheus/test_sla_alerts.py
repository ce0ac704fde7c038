"""The page and the ticket on objectives, judged by promtool."""

import pytest

from tests.prometheus.stories import INSTANCE, WHO, Story, confirmed, healthy, judge, promise, with_texts

PAGE, TICKET = "InferenceSLABreach", "InferenceSLABreachSlow"
GAP = "_x15"


def gone(target: str, at: int) -> dict[str, str]:
    """A target in an outage whose series end at a minute, as a reload without it ends them."""
    series = promise(target, f"0+4x{at}", f"0+4x{at}", f"1x{at}", f"0+4x{at}", long=at)
    return {name: f"{values} stale" for name, values in series.items()}


STORIES = {
    "an outage pages within ten minutes and a healthy target does not": Story(
        series=promise("prod", "0+4x400", "0x100 4+4x300", "0x100 1x300", "0x100 4+4x300") | healthy(),
        firing={"101m": {PAGE: []}, "110m": {PAGE: ["prod/page"]}, "300m": {PAGE: ["prod/page"]}},
    ),
    "twenty percent of breaches page within a quarter of an hour": Story(
        series=promise("prod", "0+4x400", "0x100 0.8+0.8x300", "0x100 0.65+0.65x300", "0x100 1x300"),
        firing={"100m": {PAGE: []}, "115m": {PAGE: ["prod/page"]}},
    ),
    "five percent of breaches page within two hours": Story(
        series=promise("prod", "0+4x400", "0x100 0.2+0.2x300", "0x100 0.2+0.2x300", "0x400"),
        firing={"120m": {PAGE: []}, "220m": {PAGE: ["prod/page"]}},
    ),
    "the same five percent in runs of twelve are too few witnesses": Story(
        series=promise("prod", "0+4x400", "0+0.2x400", "0+0.0167x400", "0x400"), never=(PAGE,)
    ),
    "one blip of six breaches wakes nobody": Story(
        series=promise("prod", "0+4x400", "0x100 4 6x300", "0x100 1x301", "0x100 4 6 0x299"), never=(PAGE,)
    ),
    "twenty-three in a row wake nobody": Story(
        series=promise("prod", "0+4x400", "0x100 4+4x4 23x295", "0x100 1x300", "0x100 4+4x4 23 0x294"),
        never=(PAGE,),
    ),
    "a service just at its objective wakes nobody and costs no ticket": Story(
        series=promise("prod", "0+4x400", "0+0.04x400", "0+0.04x400", "0x400"), never=(PAGE, TICKET)
    ),
    "five percent are fine where ninety percent are promised": Story(
        series=promise("prod", "0+4x400", "0+0.2x400", "0+0.2x400", "0x400", objective=0.9), never=(PAGE,)
    ),
    "severity comes from the configuration": Story(
        series=promise("prod", "0+4x400", "0+4x400", "1x400", "0+4x400", severity="ticket"),
        firing={"30m": {PAGE: ["prod/ticket"]}},
    ),
    "where two exporters disagree about the severity the graver one counts": Story(
        series=promise("prod", "0+4x400", "0+4x400", "1x400", "0+4x400", severity="ticket")
        | {
            f'inference_sla_severity_info{{{WHO.format(target="prod")},sli="ttft_p99",severity="page",'
            'job="inference-exporter",instance="b:9780"}': "1x400"
        },
        firing={"30m": {PAGE: ["prod/page"]}},
    ),
    "a recovered target is quiet a quarter of an hour later": Story(
        series=promise("prod", "0+4x400", "0+4x60 240x340", "1x400", "0+4x60 0x340"),
        firing={"60m": {PAGE: ["prod/page"]}, "77m": {PAGE: []}},
    ),
    "a target that recovers from twenty percent is quiet two and a half hours later": Story(
        series=promise("prod", "0+4x400", "0+0.8x60 48x340", "0+0.65x60 39x340", "0x400"),
        firing={"60m": {PAGE: ["prod/page"]}, "215m": {PAGE: []}},
    ),
    "long runs that evidence discounts page by the burn rate": Story(
        series=promise("prod", "0+4x400", "0+1.2x400", "0+0.06x400", "0x400"),
        firing={"70m": {PAGE: ["prod/page"]}},
    ),
    "twenty percent that confirmations see for six minutes page before the schedule alone could": Story(
        series=promise("prod", "0+4x400", "0x100 0.8+0.8x20", "0x100 0.65+0.65x20", "0x120")
        | confirmed("prod", "0x100 16+16x20", "0x100 3+3x20", "0x100 2.5+2.5x20")
        | promise("plain", "0+4x400", "0x100 0.8+0.8x20", "0x100 0.65+0.65x20", "0x120"),
        firing={"105m": {PAGE: []}, "107m": {PAGE: ["prod/page"]}},
    ),
    "a blip of three minutes that breaks every second request wakes nobody however often it is seen": Story(
        series=promise("prod", "0+4x400", "0x100 2+2x2 6x100", "0x100 1+1x2 3x100", "0x200")
        | confirmed("prod", "0x100 18+18x2 64x100", "0x100 9+9x2 27x100", "0x100 5+5x2 15x100"),
        never=(PAGE,),
    ),
    "a first request that is slow is no breach of a percentile": Story(
        series=promise("prod", "1+4x100", "1x100", "1x100", "1 0x99"), never=(PAGE,), minutes=100
    ),
    "a restart resets every counter and hides no outage": Story(
        series=promise("prod", "0+4x60 0+4x300", "0+4x60 0+4x300", "1x60 0 1x299", "0+4x60 0+4x300")
        | promise("calm", "0+4x60 0+4x300", "0x400", "0x400", "0x400"),
        firing={
            "59m": {PAGE: ["prod/page"]},
            "64m": {PAGE: ["prod/page"]},
            "90m": {PAGE: ["prod/page"]},
        },
    ),
    "missed scrapes resolve nothing and raise nothing": Story(
        series=promise(
            "prod", "0+4x60 _x3 256+4x300", "0+4x60 _x3 256+4x300", "1x60 _x3 1x300", "0+4x60 _x3 256+4x300"
        )
        | healthy(),
        firing={"61m": {PAGE: ["prod/page"]}, "63m": {PAGE: ["prod/page"]}, "70m": {PAGE: ["prod/page"]}},
    ),
    "after a gap such as a restart of Prometheus an outage is found again and health stays quiet": Story(
        series=promise(
            "prod",
            f"0+4x60 {GAP} 304+4x300",
            f"0+4x60 {GAP} 304+4x300",
            f"1x60 {GAP} 1x300",
            f"0+4x60 {GAP} 304+4x300",
        )
        | promise(
            "calm", f"0+4x60 {GAP} 304+4x300", f"0x60 {GAP} 0x300", f"0x60 {GAP} 0x300", f"0x60 {GAP} 0x300"
        ),
        firing={"60m": {PAGE: ["prod/page"]}, "80m": {PAGE: ["prod/page"]}},
    ),
    "a target that is removed is forgotten": Story(
        series=gone("prod", at=60),
        firing={
            "60m": {PAGE: ["prod/page"], "InferenceSLANoData": []},
            "75m": {PAGE: [], "InferenceSLANoData": []},
            "150m": {"InferenceSLANoData": []},
        },
    ),
    "a dead exporter keeps the page until its own alert is there": Story(
        series=promise("prod", "0+4x60 stale", "0+4x60 stale", "1x60 stale", "0+4x60 stale", long=60)
        | {f"up{{{INSTANCE}}}": "1x60 0x100"},
        firing={
            "65m": {PAGE: ["prod/page"], "InferenceExporterDown": []},
            "66m": {PAGE: ["prod/page"], "InferenceExporterDown": ["a:9780/page"]},
            "120m": {"InferenceExporterDown": ["a:9780/page"], "InferenceSLANoData": []},
        },
    ),
    "two percent for a day cost a ticket and wake nobody": Story(
        series=promise("prod", "0+20x300", "0+0.4x300", "0+0.4x300", "0x300", long=300)
        | promise("fine", "0+20x300", "0+0.2x300", "0+0.2x300", "0x300", long=300),
        firing={"1450m": {TICKET: ["prod/ticket"], PAGE: []}},
        interval="5m",
        every="5m",
    ),
}


@pytest.mark.stack
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_story(story, tmp_path):
    assert judge(story.document(), tmp_path) == ""


@pytest.mark.stack
def test_the_page_says_what_was_promised_and_how_much_of_it_is_broken(tmp_path):
    story = Story(
        series=promise("prod", "0+4x60", "0+4x60", "1x60", "0+4x60"), firing={"30m": {PAGE: ["prod/page"]}}
    )
    document = with_texts(
        story,
        "30m",
        PAGE,
        {"target": "prod", "model": "m", "probe": "p", "sli": "ttft_p99", "severity": "page"},
        {
            "summary": "prod breaks its ttft_p99 objective",
            "description": "100% of the requests of the last 15 minutes by probe p of prod (model m) "
            "failed or were too slow, and chance does not explain what the last hours show. "
            "The objective: 99% of the requests end well and within 0.5 s.",
            "runbook_url": "docs/runbooks.md#inferenceslabreach",
        },
    )
    assert judge(document, tmp_path) == ""
