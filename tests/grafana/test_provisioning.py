"""Provisioning files say where things are, and they are there."""

import yaml

from tests.grafana.reading import DASHBOARDS, ROOT

PROVISIONING = ROOT / "grafana" / "provisioning"


def read(name: str) -> dict:
    return yaml.safe_load((PROVISIONING / name).read_text(encoding="utf-8"))


def test_the_data_source_scrapes_as_often_as_the_example_configuration():
    (source,) = read("datasources/prometheus.yml")["datasources"]
    prometheus = yaml.safe_load((ROOT / "prometheus" / "prometheus.yml").read_text(encoding="utf-8"))
    assert source["jsonData"]["timeInterval"] == prometheus["global"]["scrape_interval"]
    assert (source["type"], source["isDefault"]) == ("prometheus", True)


def test_dashboards_are_read_only_and_their_sources_are_here():
    (provider,) = read("dashboards/inference.yml")["providers"]
    assert provider["allowUiUpdates"] is False
    assert provider["options"]["path"] == "/etc/grafana/dashboards"
    assert DASHBOARDS
