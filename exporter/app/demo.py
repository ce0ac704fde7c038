"""The demo: embedded endpoints as child processes, and the service against them."""

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from importlib.resources import files
from pathlib import Path
from string import Template

from exporter.adapters.child import Child, ChildEnd, start_child
from exporter.adapters.child_environment import child_environment
from exporter.app.process import run_to_the_end, start_logging
from exporter.app.service import Service
from exporter.config.load import checked
from exporter.config.parse import parse
from exporter.kernels.suite import SUITES
from exporter.model.configuration import Configuration, WebOptions
from exporter.probes import KINDS

ENDPOINT = "exporter.demo"
START_S = 60.0
"""Importing numpy and making a million random weights takes 1 s; a busy machine has taken 20."""
ENDPOINTS: Mapping[str, tuple[str, ...]] = {
    "demo": (),
    "demo-flaky": ("--error-rate", "0.02", "--cut-rate", "0.02", "--slow-rate", "0.05", "--slow-factor", "8"),
}
"""Name of the target, and the faults of the endpoint behind it."""


class DemoError(Exception):
    """The embedded endpoint did not come up; the message says why."""


def serve_demo(*, listen: WebOptions | None, log_level: str) -> int:
    """Run the demo in this process until told to stop, and return the exit code."""
    start_logging(log_level)
    return run_to_the_end(_demo(listen))


async def _demo(listen: WebOptions | None) -> int:
    async with AsyncExitStack() as stack:
        urls = {}
        for name, faults in ENDPOINTS.items():
            endpoint = await _start(faults)
            stack.push_async_callback(endpoint.stop)
            urls[name] = await _address(name, endpoint)
        configuration = demo_configuration(urls)
        return await Service(lambda: configuration, configuration, listen=listen).run()


def demo_configuration(urls: Mapping[str, str]) -> Configuration:
    """Return the packaged configuration with the endpoints' URLs, by target name, filled in."""

    class Urls(Template):
        idpattern = "[a-z-]+"

    packaged = files("exporter.app").joinpath("demo.yml").read_text(encoding="utf-8")
    return checked(parse(Urls(packaged).substitute(urls)), KINDS, SUITES, source="demo.yml", folder=Path())


async def _start(faults: tuple[str, ...]) -> Child:
    environment = child_environment(os.environ, threads=1)
    started = await start_child(ENDPOINT, "--exit-with-parent", *faults, environment=environment)
    if isinstance(started, ChildEnd):
        raise DemoError(f"the embedded endpoint could not be started: {started.detail}")
    return started


async def _address(name: str, endpoint: Child) -> str:
    answer = await endpoint.receive(START_S)
    if isinstance(answer, ChildEnd):
        raise DemoError(f"the embedded endpoint {name} did not come up: {answer.detail}")
    return str(answer["listening"])
