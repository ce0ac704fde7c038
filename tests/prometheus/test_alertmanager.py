"""The example of the Alertmanager configuration: routes by amtool, inhibition by a real Alertmanager."""

import json
import subprocess
import urllib.request
from pathlib import Path

import pytest

from tests.prometheus.stack import Alertmanager, until
from tests.prometheus.stories import ROOT

CONFIG = ROOT / "prometheus" / "alertmanager.yml"
WHO = {"target": "prod", "model": "m", "probe": "p"}
SLI = WHO | {"sli": "ttft_p99"}
PROCESS = {"job": "inference-exporter", "instance": "a:9780"}
DOWN, BREACH, SLOW = "InferenceTargetDown", "InferenceSLABreach", "InferenceSLABreachSlow"

pytestmark = pytest.mark.stack


def amtool(*arguments: str) -> str:
    done = subprocess.run(["amtool", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_amtool_accepts_it():
    assert "SUCCESS" in amtool("check-config", str(CONFIG))


def test_promtool_accepts_the_example_of_prometheus():
    subprocess.run(
        ["promtool", "check", "config", "--syntax-only", str(ROOT / "prometheus" / "prometheus.yml")],
        check=True,
        capture_output=True,
    )


@pytest.mark.parametrize(
    ("labels", "receivers"),
    [
        (["severity=page", "alertname=InferenceSLABreach"], "pages,chat"),
        (["severity=ticket", "alertname=InferenceSLABreach"], "tickets"),
        (["severity=ticket", "alertname=InferenceClientLate"], "tickets"),
        (["alertname=SomethingElse"], "tickets"),
    ],
)
def test_route(labels, receivers):
    assert amtool("config", "routes", "test", f"--config.file={CONFIG}", *labels) == receivers


def alert(name: str, severity: str = "page", **labels: str) -> dict[str, object]:
    return {"labels": {"alertname": name, "severity": severity} | labels}


def muted(folder: Path, alerts: list[dict[str, object]]) -> set[str]:
    """The names of the alerts that are inhibited, once all of them are there."""
    with Alertmanager(folder, CONFIG) as manager:
        body = json.dumps(alerts).encode()
        request = urllib.request.Request(
            f"{manager.url}/api/v2/alerts", body, {"Content-Type": "application/json"}
        )
        urllib.request.urlopen(request, timeout=10).close()

        def seen() -> list[dict[str, dict[str, object]]]:
            found = json.load(urllib.request.urlopen(f"{manager.url}/api/v2/alerts", timeout=10))
            judged = [a for a in found if a["status"]["state"] != "unprocessed"]
            return judged if len(judged) == len(alerts) else []

        return {str(a["labels"]["alertname"]) for a in until(seen) if a["status"]["inhibitedBy"]}


@pytest.mark.parametrize(
    ("alerts", "names"),
    [
        pytest.param(
            [alert(DOWN, **WHO), alert(BREACH, **SLI), alert("InferenceErrorRateHigh", "ticket", **WHO)],
            {BREACH, "InferenceErrorRateHigh"},
            id="a target that is down mutes its breaches",
        ),
        pytest.param(
            [alert(DOWN, **WHO), alert(BREACH, **SLI | {"target": "other"})],
            set(),
            id="and not those of another target",
        ),
        pytest.param(
            [alert(DOWN, "ticket", **WHO), alert(BREACH, **SLI)], set(), id="a ticket never mutes a page"
        ),
        pytest.param(
            [
                alert("InferenceExporterDown", **PROCESS),
                alert("InferenceSLANoData", "ticket", **SLI | PROCESS),
            ],
            {"InferenceSLANoData"},
            id="a dead exporter mutes the lack of its data",
        ),
        pytest.param(
            [
                alert("InferenceExporterDown", **PROCESS),
                alert("InferenceSLANoData", "ticket", **SLI | PROCESS | {"instance": "b:9780"}),
            ],
            set(),
            id="and not that of another exporter",
        ),
        pytest.param(
            [alert(BREACH, **SLI), alert(SLOW, "ticket", **SLI)], {SLOW}, id="what pages needs no ticket"
        ),
    ],
)
def test_inhibition(alerts, names, tmp_path):
    assert muted(tmp_path, alerts) == names
