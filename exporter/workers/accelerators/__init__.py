"""Kinds of accelerator, one file each: whatever file here defines ``ACCELERATOR`` is one more kind."""

import importlib
import pkgutil

import torch

from exporter.workers.accelerators.base import Accelerator


def kinds() -> dict[str, Accelerator]:
    """Return every kind by the name that torch gives its devices."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "base")
    modules = (importlib.import_module(f"{__name__}.{name}") for name in names)
    return {module.ACCELERATOR.kind: module.ACCELERATOR for module in modules}


def of(device: torch.device) -> Accelerator | None:
    """Return the kind of a device, None for the CPU.

    Raises:
        ValueError: there is no file for it.
    """
    if device.type == "cpu":
        return None
    known = kinds()
    if device.type not in known:
        raise ValueError(f"no accelerator {device.type!r}; there are: {', '.join(known)}")
    return known[device.type]
