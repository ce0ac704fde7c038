"""What people deploy: valid for Kubernetes, made of the same rules and boards, hardened."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from deploy.build import main
from exporter.config.load import checked
from exporter.config.parse import parse
from exporter.kernels.suite import SUITES
from exporter.model.shard import parse_shard
from exporter.probes import KINDS

ROOT = Path(__file__).parents[2]
KUBERNETES = ROOT / "deploy" / "kubernetes"
VERSIONS = ("1.29", "1.33", "1.37")
OF_THE_OPERATOR = {"ServiceMonitor", "PrometheusRule"}
LIMIT_BYTES = 1024 * 1024
"""Of a ConfigMap."""


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(KUBERNETES.glob("*/*.yml")):
        if path.name != "kustomization.yml":
            for each in yaml.safe_load_all(path.read_text(encoding="utf-8")):
                yield f"{path.parent.name}/{path.name}:{each['kind']}/{each['metadata']['name']}", each


OBJECTS = dict(documents())
PODS = {
    name: each["spec"]["template"]["spec"]
    for name, each in OBJECTS.items()
    if "template" in each.get("spec", {})
}
pods = pytest.mark.parametrize("pod", PODS.values(), ids=PODS)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "name", [name for name, each in OBJECTS.items() if each["kind"] not in OF_THE_OPERATOR]
)
def test_kubernetes_accepts_the_object(name: str, version: str):
    kubernetes_validate.validate(OBJECTS[name], version, strict=True)


def test_the_judge_refuses_what_is_wrong():
    wrong = json.loads(json.dumps(OBJECTS["common/service.yml:Service/inference-exporter"]))
    wrong["spec"]["ports"][0]["port"] = "9780"
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[0], strict=True)


@pytest.mark.parametrize(
    "path", sorted(KUBERNETES.glob("*/kustomization.yml")), ids=lambda path: path.parent.name
)
def test_a_kustomization_has_everything_of_its_folder(path: Path):
    listed = set(yaml.safe_load(path.read_text(encoding="utf-8"))["resources"])
    assert {each for each in listed if not each.startswith("..")} == {
        each.name for each in path.parent.glob("*.yml") if each != path
    }
    assert all((path.parent / each).exists() for each in listed)


@pytest.mark.parametrize("name", [name for name in OBJECTS if "/configuration.yml" in name])
def test_the_exporter_reads_the_configuration(name: str, tmp_path: Path):
    text = OBJECTS[name]["data"]["exporter.yml"]
    assert checked(parse(text), KINDS, SUITES, source=name, folder=tmp_path)


@pods
def test_a_pod_is_restricted(pod):
    (container,) = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"]["memory"]


@pods
def test_a_pod_mounts_what_there_is(pod):
    maps = {each["metadata"]["name"] for each in OBJECTS.values() if each["kind"] == "ConfigMap"}
    for volume in pod["volumes"]:
        for source in volume.get("projected", {}).get("sources", ()):
            assert "secret" in source or source["configMap"]["name"] in maps


def test_there_are_as_many_replicas_as_shards():
    (stateful,) = (each["spec"] for each in OBJECTS.values() if each["kind"] == "StatefulSet")
    (container,) = stateful["template"]["spec"]["containers"]
    text = container["args"][container["args"].index("--shard") + 1]
    assert parse_shard(text.replace("$(SHARD)", "0")).count == stateful["replicas"]


def test_the_service_and_the_monitor_find_every_pod():
    labels = [
        each["spec"]["template"]["metadata"]["labels"] for name, each in OBJECTS.items() if name in PODS
    ]
    wanted = OBJECTS["common/service.yml:Service/inference-exporter"]["spec"]["selector"]
    assert all(wanted.items() <= each.items() for each in labels)
    monitor = OBJECTS["monitoring/service-monitor.yml:ServiceMonitor/inference-exporter"]["spec"]
    service = OBJECTS["common/service.yml:Service/inference-exporter"]
    assert monitor["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert monitor["endpoints"][0]["port"] == service["spec"]["ports"][0]["name"]


def test_the_committed_objects_are_those_that_the_generator_writes(tmp_path, capsys):
    assert main(["--check"]) == 0
    assert main(["--check", "--out", str(tmp_path)]) == 1
    assert "+kind: PrometheusRule" in capsys.readouterr().out


def test_rules_and_boards_are_those_of_the_other_ways():
    rule = OBJECTS["monitoring/generated-rules.yml:PrometheusRule/inference-exporter"]
    groups = [
        group
        for path in (ROOT / "prometheus" / "rules").glob("*.yml")
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
    ]
    assert sorted(rule["spec"]["groups"], key=lambda group: group["name"]) == sorted(
        groups, key=lambda group: group["name"]
    )
    there = {}
    for name, each in OBJECTS.items():
        if name.startswith("monitoring/generated-dashboards.yml"):
            assert each["metadata"]["labels"]["grafana_dashboard"] == "1"
            ((file, text),) = each["data"].items()
            assert len(text.encode()) < LIMIT_BYTES
            there[file.removeprefix("inference-")] = json.loads(text)
    boards = (ROOT / "grafana" / "dashboards").glob("*.json")
    assert there == {path.name: json.loads(path.read_text(encoding="utf-8")) for path in boards}


@pytest.mark.systemd
@pytest.mark.parametrize("drop_in", ["", "gpu.conf"], ids=["alone", "with GPUs"])
def test_systemd_has_nothing_to_say_about_the_unit_and_finds_it_safe(drop_in: str, tmp_path: Path):
    folder = ROOT / "deploy" / "systemd"
    unit = tmp_path / "inference-exporter.service"
    text = (folder / unit.name).read_text(encoding="utf-8")
    (command,) = re.findall(r"^ExecStart=(\S+)", text, re.MULTILINE)
    unit.write_text(text.replace(command, shutil.which("true") or "/bin/true"))
    if drop_in:
        (tmp_path / f"{unit.name}.d").mkdir()
        shutil.copy(folder / drop_in, tmp_path / f"{unit.name}.d" / drop_in)
    environment = os.environ | {"SYSTEMD_UNIT_PATH": f"{tmp_path}:", "LC_ALL": "C.UTF-8"}

    def analyze(*arguments: str) -> str:
        command = ["systemd-analyze", *arguments, str(unit)]
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return run.stdout + run.stderr

    assert analyze("verify") == ""
    score = re.search(r"exposure level for \S+: ([\d.]+)", analyze("security", "--offline=true"))
    assert float(score[1]) < 2.0
