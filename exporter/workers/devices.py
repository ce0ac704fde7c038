"""What there is to measure on."""

import torch

from exporter.adapters import machine
from exporter.model.observation import DeviceFound, Environment
from exporter.workers.accelerators import kinds


def environment() -> Environment:
    """Describe the framework and every device it can use; a CPU is always there."""
    text = machine.cpuinfo()
    cpu = DeviceFound(
        device="cpu",
        name=machine.cpu_name(text),
        governor=machine.governor(),
        virtual=machine.is_virtual(text),
    )
    found = [device for kind in kinds().values() for device in kind.found()]
    return Environment(
        torch_version=str(torch.__version__), threads=torch.get_num_threads(), devices=(cpu, *found)
    )
