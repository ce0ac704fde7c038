"""How a device is named: as torch does."""

import re

_DEVICE = re.compile(r"cpu|mps|[a-z]{2,15}:[0-9]{1,3}")


def is_device(text: str) -> bool:
    """Tell whether a text names a device: ``cpu``, ``mps``, ``cuda:0``, ``xpu:1``, or another kind and
    number.

    Whether there is such a device, and such a kind, shows only where it is looked for.
    """
    return _DEVICE.fullmatch(text) is not None
