"""The landing page in a real browser."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.exporter_process import Exporter, started

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def exporter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Exporter]:
    path = tmp_path_factory.mktemp("pages") / "exporter.yml"
    path.write_text("benches: [{suite: light, every: 1h}]\nweb: {listen: '127.0.0.1:0'}\n")
    with started("run", "--config", str(path)) as running:
        running.wait_until_up()
        yield running


@pytest.mark.browser
def test_every_link_of_the_landing_page_leads_somewhere(exporter: Exporter, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or "chromium"
    command = [browser, *FLAGS, f"--user-data-dir={tmp_path}", "--dump-dom", exporter.url + "/"]
    page = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    assert "<title>inference-exporter</title>" in page
    links = re.findall(r'href="([^"]+)"', page)
    assert {"metrics", "config"} <= set(links)
    for link in links:
        assert exporter.get(f"/{link}")[0] == 200, link
