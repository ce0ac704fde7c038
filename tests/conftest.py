"""A test that needs a tool is skipped where the tool is missing, unless INFERENCE_REQUIRE_ALL is set."""

import importlib.util
import os
import shutil

import pytest

_STACK = ("prometheus", "promtool", "prometheus-alertmanager", "amtool")
_NEEDS = {
    "torch": lambda: importlib.util.find_spec("torch") is not None,
    "stack": lambda: all(shutil.which(tool) for tool in _STACK),
    "browser": lambda: shutil.which("chromium") is not None,
    "systemd": lambda: shutil.which("systemd-analyze") is not None,
    "cc": lambda: shutil.which("cc") is not None,
    "locust": lambda: importlib.util.find_spec("locust") is not None,
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("INFERENCE_REQUIRE_ALL"):
        return
    for name, there in _NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(name)]
        if marked and not there():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=f"{name} is not installed here"))
