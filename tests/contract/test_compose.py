"""The compose files: what they mount exists, what they open is loopback, and nothing runs as root."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
services = pytest.mark.parametrize("service", SERVICES.values(), ids=SERVICES)
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


def defaults(text: str) -> str:
    """The text as it is when no variable is set."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


def test_the_parts_are_there_and_only_the_demo_can_be_left_out():
    optional = {name for name, service in SERVICES.items() if service.get("profiles")}
    assert {*SERVICES} - optional == {"exporter", "prometheus", "alertmanager", "grafana"}
    assert optional == {"demo", "demo-flaky"}
    assert "COMPOSE_PROFILES=demo\n" in (ROOT / ".env").read_text(encoding="utf-8")


@services
def test_a_service_is_hardened_and_bounded(service):
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert {"cpus", "memory", "pids"} <= service["deploy"]["resources"]["limits"].keys()
    assert "healthcheck" in service or service["image"].startswith("inference-exporter:")
    assert "build" in service or not service["user"].startswith("0")


@services
def test_ports_are_open_on_this_machine_only(service):
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


@services
def test_what_is_mounted_exists(service):
    for volume in service.get("volumes", ()):
        source = defaults(volume).partition(":")[0]
        assert (ROOT / source).exists() if source.startswith(".") else source in COMPOSE["volumes"]


@services
def test_an_image_has_a_version(service):
    assert re.search(r":(v?\d+\.\d+\.\d+|bench|probe)$", service["image"])


def test_the_configurations_name_services_that_exist():
    exporter = yaml.safe_load((ROOT / "deploy/compose/exporter.yml").read_text(encoding="utf-8"))
    for target in exporter["targets"]:
        assert re.match(r"http://([\w-]+):8000/v1$", target["base_url"])[1] in SERVICES
    prometheus = yaml.safe_load((ROOT / "deploy/compose/prometheus.yml").read_text(encoding="utf-8"))
    example = yaml.safe_load((ROOT / "prometheus/prometheus.yml").read_text(encoding="utf-8"))
    assert prometheus["global"] == example["global"]
    (scraped,) = (job for job in prometheus["scrape_configs"] if job["job_name"] == "inference-exporter")
    assert scraped["static_configs"][0]["targets"] == ["exporter:9780"]


def test_the_image_carries_nothing_but_the_package():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split()
    kept = {each[1:] for each in ignored if each.startswith("!")}
    copied = {
        path
        for line in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE)
        for path in line.split()
    }
    assert ignored[0] == "*"
    assert copied == kept
    assert all((ROOT / each).exists() for each in kept)


def test_the_image_is_not_rooted_and_stops_on_sigterm():
    assert re.search(r"^USER 65532:65532$", DOCKERFILE, re.MULTILINE)
    assert re.search(
        r'^ENTRYPOINT \["/usr/bin/tini", "--", "inference-exporter"\]$', DOCKERFILE, re.MULTILINE
    )
    assert {"bench", "probe"} <= {*re.findall(r"^FROM \S+ AS (\S+)$", DOCKERFILE, re.MULTILINE)}
