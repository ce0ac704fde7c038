"""The alerts on targets, measurements, the exporter and the kernels, judged by promtool."""

import pytest

from tests.prometheus.stories import INSTANCE, WHO, Story, healthy, judge, probe, promise, with_texts

DOWN, ERRORS, SLOWER = "InferenceTargetDown", "InferenceErrorRateHigh", "InferenceTTFTRegression"
BUDGET, CERTIFICATE = "InferenceBudgetExhausted", "InferenceCertificateExpiring"
NO_DATA, MISSED = "InferenceSLANoData", "InferenceProbesMissed"
EXPORTER, RELOAD, LATE = "InferenceExporterDown", "InferenceConfigReloadFailed", "InferenceClientLate"
WRONG, SLOW_KERNEL = "InferenceKernelIncorrect", "InferenceKernelRegression"
CHANGED = "InferenceModelChanged"
LOST, THROTTLED, XID = "InferenceGPULost", "InferenceGPUThrottled", "InferenceGPUXid"


def missed(target: str, cause: str, values: str) -> dict[str, str]:
    return {
        f'inference_probes_missed_total{{{WHO.format(target=target)},{INSTANCE},cause="{cause}"}}': values
    }


def certificate(target: str, expiry: str) -> dict[str, str]:
    labels = f"{WHO.format(target=target)},{INSTANCE}"
    return {f"inference_probe_tls_certificate_expiry_timestamp_seconds{{{labels}}}": expiry}


def histogram(family: str, labels: str, counts: dict[str, str], total: str = "") -> dict[str, str]:
    """Cumulative counts by upper bound; the sum only where a rule reads it."""
    series = {f'{family}_bucket{{{labels},le="{bound}"}}': values for bound, values in counts.items()}
    series[f"{family}_count{{{labels}}}"] = counts["+Inf"]
    return series | ({f"{family}_sum{{{labels}}}": total} if total else {})


def first_tokens(target: str, low: str, high: str, every: str, total: str) -> dict[str, str]:
    """TTFT in the buckets up to 0.1, up to 0.2 and up to 0.35 s; an hour is twelve steps of five minutes."""
    return histogram(
        "inference_probe_time_to_first_token_seconds",
        f"{WHO.format(target=target)},{INSTANCE}",
        {"0.05": "0x2100", "0.1": low, "0.2": high, "0.35": every, "+Inf": every},
        total,
    )


def kernel(device: str, correct: str) -> dict[str, str]:
    labels = f'case="article",variant="sdpa",device="{device}",dtype="float32",{INSTANCE}'
    return {f"inference_kernel_correct{{{labels}}}": correct}


def regressed(device: str, values: str) -> dict[str, str]:
    labels = f'case="article",variant="sdpa",device="{device}",dtype="float32",{INSTANCE}'
    return {f"inference_kernel_regressed{{{labels}}}": values}


def gpu(metric: str, uuid: str, values: str, **labels: str) -> dict[str, str]:
    more = "".join(f',{name}="{value}"' for name, value in labels.items())
    return {f'inference_gpu_{metric}{{uuid="{uuid}",{INSTANCE}{more}}}': values}


def late(family: str, within: str, over: str) -> dict[str, str]:
    return histogram(family, INSTANCE, {"0.1": within, "0.3": over, "+Inf": over})


STORIES = {
    "a target that refuses everything is down after three minutes": Story(
        series=probe("prod", "0+4x200", "0x60 4+4x140", "1x60 0x140", "0+60x60 3600x140")
        | healthy("prod")
        | probe("good", "0+4x200", "0x200", "1x200", "0+60x200"),
        firing={"62m": {DOWN: []}, "65m": {DOWN: ["prod/page"]}},
    ),
    "without a promise that pages a target that is down is a ticket": Story(
        series=probe("prod", "0+4x200", "0x60 4+4x140", "1x60 0x140", "0+60x60 3600x140")
        | probe("soft", "0+4x200", "0x60 4+4x140", "1x60 0x140", "0+60x60 3600x140")
        | healthy("soft", severity="ticket"),
        firing={"65m": {DOWN: ["prod/ticket", "soft/ticket"]}},
    ),
    "a target that never answered is down": Story(
        series=probe("prod", "0+4x60", "0+4x60", "0x60", ""), firing={"10m": {DOWN: ["prod/ticket"]}}
    ),
    "a probe that is a minute old has not failed for three": Story(
        series=probe("prod", "_x5 0+4x60", "_x5 0+4x60", "_x5 0x60", ""),
        firing={"7m": {DOWN: []}, "10m": {DOWN: ["prod/ticket"]}},
    ),
    "a probe every minute needs four failures in a row": Story(
        series=probe("prod", "0+1x200", "0x60 1 2 3 3x140", "1x60 0 0 0 1x140", "0+60x60 3600x2 3780+60x140"),
        never=(DOWN,),
    ),
    "a probe every five minutes is down after half an hour": Story(
        series=probe(
            "prod",
            "0x4 1x4 2x4 3x4 4x4 5x4 6x4 7x4 8x4 9x4 10x4 11x4 12x4 13x4",
            "0x29 1x4 2x4 3x4 4x4 5x4 6x4 7x4 8x4",
            "1x29 0x40",
            "0x4 240x4 540x4 840x4 1140x4 1440x44",
        ),
        firing={"40m": {DOWN: []}, "60m": {DOWN: ["prod/ticket"]}},
    ),
    "one success in between means that it is not down": Story(
        series=probe("prod", "0+4x200", "0x60 4 7 11+4x100", "1x60 0 1 0x100", "0+60x60 3600 3720 3720x100"),
        firing={"63m": {DOWN: []}, "64m": {DOWN: []}},
    ),
    "a recovered target is up half an hour later": Story(
        series=probe("prod", "0+4x200", "0+4x60 240x140", "0x60 1x140", "_x60 3600+60x140"),
        firing={"60m": {DOWN: ["prod/ticket"]}, "75m": {DOWN: ["prod/ticket"]}, "85m": {DOWN: []}},
    ),
    "a third of the requests failing is too much and one in a hundred is not": Story(
        series=probe("prod", "0+4x200", "0+1.3x200", "1x200", "0+60x200")
        | probe("good", "0+4x200", "0+0.04x200", "1x200", "0+60x200"),
        firing={"60m": {ERRORS: ["prod/ticket"]}},
    ),
    "three failures are no error rate": Story(
        series=probe("prod", "0+1x200", "0x60 1 2 3x140", "1x200", "0+60x200"), never=(ERRORS,)
    ),
    "a median that doubled in a week is a regression and one that crossed a bucket's bound is none": Story(
        series=first_tokens(
            "prod", "0+20x2016 40320x60", "0+20x2076", "0+20x2076", "0+1.6x2016 3225.6+3.2x59"
        )
        | first_tokens("edge", "0+20x2016 40320x60", "0+20x2076", "0+20x2076", "0+1.99x2016 4012+2.02x59")
        | first_tokens("good", "0+20x2076", "0+20x2076", "0+20x2076", "0+1.6x2076"),
        firing={"10180m": {SLOWER: ["prod/ticket"]}},
        interval="5m",
        every="5m",
    ),
    "a model that changed is told once": Story(
        series={
            f"inference_probe_model_changes_total{{{WHO.format(target='prod')},{INSTANCE}}}": "0x30 1x80",
            f"inference_probe_model_changes_total{{{WHO.format(target='good')},{INSTANCE}}}": "3x110",
        },
        firing={"30m": {CHANGED: []}, "35m": {CHANGED: ["prod/ticket"]}, "70m": {CHANGED: []}},
    ),
    "requests that the budget stopped are told and others are not": Story(
        series=missed("prod", "over_budget", "0x60 1+4x100") | missed("good", "busy", "0+4x200"),
        firing={"59m": {BUDGET: []}, "70m": {BUDGET: ["prod/ticket"]}},
    ),
    "a certificate that expires within two weeks is told once a fortnight before": Story(
        series=certificate("prod", "1209600x200") | certificate("good", "2592000x200"),
        firing={"0m": {CERTIFICATE: []}, "20m": {CERTIFICATE: ["prod/ticket"]}},
    ),
    "a hung prober is no health": Story(
        series=promise("hung", "0+4x60 240x140", "0x200", "0x200", "0x200") | healthy(),
        firing={"80m": {NO_DATA: []}, "100m": {NO_DATA: ["hung/ticket"]}},
    ),
    "an objective whose every request is undecided has no data": Story(
        series=promise("prod", "0x200", "0x200", "0x200", "0x200"), firing={"40m": {NO_DATA: ["prod/ticket"]}}
    ),
    "a target that was added just now has had no time": Story(
        series={
            name: f"_x100 {values}"
            for name, values in promise("new", "0x100", "0x100", "0x100", "0x100").items()
        },
        firing={"120m": {NO_DATA: []}, "135m": {NO_DATA: ["new/ticket"]}},
    ),
    "an hourly probe is not missed after half an hour and is after six": Story(
        series=promise("slow", "0x30 1x60 2x800", "0x800", "0x800", "0x800", every="3600"),
        firing={"100m": {NO_DATA: []}, "440m": {NO_DATA: []}, "460m": {NO_DATA: ["slow/ticket"]}},
    ),
    "an exporter that restarts over and over measures nothing": Story(
        series=promise("prod", "0x200", "0x200", "0x200", "0x200")
        | {f"inference_exporter_start_time_seconds{{{INSTANCE}}}": "0+120x200"},
        firing={"60m": {NO_DATA: ["prod/ticket"]}},
    ),
    "every third slot overrun is told and a load test is not": Story(
        series=probe("prod", "0+2.7x200", "0x200", "1x200", "0+60x200")
        | missed("prod", "overrun", "0+1.3x200")
        | probe("good", "0+2.7x200", "0x200", "1x200", "0+60x200")
        | missed("good", "busy", "0+1.3x200")
        | missed("good", "overrun", "0x200"),
        firing={"60m": {MISSED: ["prod/ticket"]}},
    ),
    "a dead exporter pages after five minutes and a restart does not": Story(
        series={f"up{{{INSTANCE}}}": "1x20 0x2 1x20 0x60", 'up{job="other",instance="b:1"}': "0x200"},
        firing={"30m": {EXPORTER: []}, "45m": {EXPORTER: []}, "60m": {EXPORTER: ["a:9780/page"]}},
    ),
    "no exporter at all pages": Story(
        series={'up{job="other",instance="b:1"}': "1x200"}, firing={"10m": {EXPORTER: ["/page"]}}
    ),
    "a refused configuration is told until one is accepted": Story(
        series={f"inference_exporter_config_last_reload_successful{{{INSTANCE}}}": "1x20 0x40 1x40"},
        firing={"20m": {RELOAD: []}, "30m": {RELOAD: ["a:9780/ticket"]}, "80m": {RELOAD: []}},
    ),
    "a client that comes late to what it received is told": Story(
        series=late("inference_probe_client_lateness_seconds", "0+90x200", "0+100x200"),
        firing={"30m": {LATE: ["a:9780/ticket"]}},
    ),
    "a late event loop is told": Story(
        series=late("inference_exporter_event_loop_lag_seconds", "0+500x200", "0+600x200"),
        firing={"30m": {LATE: ["a:9780/ticket"]}},
    ),
    "one late read in a thousand is nothing": Story(
        series=late("inference_probe_client_lateness_seconds", "0+999x200", "0+1000x200"), never=(LATE,)
    ),
    "a lost GPU is told and one that missed a minute is not": Story(
        series=gpu("up", "GPU-a", "1x20 0x40 1x40") | gpu("up", "GPU-b", "1x20 0 1x80"),
        firing={"22m": {LOST: []}, "30m": {LOST: ["GPU-a/ticket"]}, "80m": {LOST: []}},
    ),
    "a hot GPU is told, whichever way its driver counts, and one at its power limit is not": Story(
        series=gpu("throttle_seconds_total", "GPU-a", "0x20 0+30x80", reason="hw_thermal")
        | gpu("throttle_active", "GPU-a", "0x20 1x80", reason="hw_thermal")
        | gpu("throttle_active", "GPU-b", "0x20 1x80", reason="sw_thermal")
        | gpu("throttle_seconds_total", "GPU-c", "0+60x100", reason="sw_power_cap"),
        firing={"20m": {THROTTLED: []}, "45m": {THROTTLED: ["GPU-a/ticket", "GPU-b/ticket"]}},
    ),
    "an XID of the hardware is told for a while and one of an application is not": Story(
        series=gpu("xid_last_timestamp_seconds", "GPU-a", "_x20 1200x80", xid="79")
        | gpu("xid_last_timestamp_seconds", "GPU-b", "_x20 1200x80", xid="31"),
        firing={"19m": {XID: []}, "25m": {XID: ["GPU-a/ticket"]}, "50m": {XID: []}},
    ),
    "a wrong kernel is told and a right one is not": Story(
        series=kernel("cuda:0", "1x20 0x40 1x40") | kernel("cpu", "1x100"),
        firing={"20m": {WRONG: []}, "40m": {WRONG: ["cuda:0/ticket"]}, "90m": {WRONG: []}},
    ),
    "a kernel that got slower is told, also while disturbed runs hide its time": Story(
        series=regressed("cuda:0", "0x20 1x10 _x60 0x60") | regressed("cpu", "0x160"),
        firing={
            "19m": {SLOW_KERNEL: []},
            "40m": {SLOW_KERNEL: ["cuda:0/ticket"]},
            "60m": {SLOW_KERNEL: ["cuda:0/ticket"]},
            "140m": {SLOW_KERNEL: []},
        },
    ),
}


@pytest.mark.stack
@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_story(story, tmp_path):
    assert judge(story.document(), tmp_path) == ""


@pytest.mark.stack
def test_a_target_that_is_down_says_why(tmp_path):
    story = Story(
        series=probe("prod", "0+4x60", "0+4x60", "0x60", ""), firing={"10m": {DOWN: ["prod/ticket"]}}
    )
    document = with_texts(
        story,
        "10m",
        DOWN,
        {"target": "prod", "model": "m", "probe": "p", "severity": "ticket"},
        {
            "summary": "prod is down (model m, probe p)",
            "description": "Every request of the last 3 minutes failed, and at least the last 4. "
            "Most frequent reason: connect.",
            "runbook_url": "docs/runbooks.md#inferencetargetdown",
        },
    )
    assert judge(document, tmp_path) == ""
