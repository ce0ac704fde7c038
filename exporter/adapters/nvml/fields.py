"""NVML's numbered fields: many values in one call, each with an error of its own."""

from collections.abc import Mapping, Sequence

import pynvml

from exporter.adapters.nvml.calls import Calls
from exporter.model.power import Scope, Throttle

Key = tuple[int, int]
"""Field and scope."""

_GPU = 0
_MODULE = 1
ALL_LINKS = 0xFFFFFFFF
_WHOLE_NUMBERS = {
    pynvml.NVML_VALUE_TYPE_UNSIGNED_INT: "uiVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG: "ulVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: "ullVal",
    pynvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG: "sllVal",
    pynvml.NVML_VALUE_TYPE_SIGNED_INT: "siVal",
    pynvml.NVML_VALUE_TYPE_UNSIGNED_SHORT: "usVal",
}

INSTANT = pynvml.NVML_FI_DEV_POWER_INSTANT
AVERAGE = pynvml.NVML_FI_DEV_POWER_AVERAGE
SCOPES: tuple[tuple[int, Scope], ...] = ((_GPU, Scope.GPU), (_MODULE, Scope.MODULE))
"""In this order: a superchip answers for the module only."""
MEMORY_TEMPERATURE: Key = (pynvml.NVML_FI_DEV_MEMORY_TEMP, _GPU)
PCIE_SENT: Key = (pynvml.NVML_FI_DEV_PCIE_COUNT_TX_BYTES, _GPU)
PCIE_RECEIVED: Key = (pynvml.NVML_FI_DEV_PCIE_COUNT_RX_BYTES, _GPU)
_FAST = frozenset({PCIE_SENT, PCIE_RECEIVED})
"""At tens of GB/s a counter of 32 bits wraps unseen between two samples."""
_LARGE = ("ulVal", "ullVal")
NVLINK_SENT_KIB: Key = (pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, ALL_LINKS)
NVLINK_RECEIVED_KIB: Key = (pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, ALL_LINKS)
THROTTLED_NS: Mapping[Throttle, Key] = {
    Throttle.SW_POWER_CAP: (pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP, _GPU),
    Throttle.SYNC_BOOST: (pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST, _GPU),
    Throttle.SW_THERMAL: (pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN, _GPU),
    Throttle.HW_THERMAL: (pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN, _GPU),
    Throttle.HW_POWER_BRAKE: (pynvml.NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN, _GPU),
}

WANTED: tuple[Key, ...] = (
    *((field, scope) for field in (INSTANT, AVERAGE) for scope, _ in SCOPES),
    *(MEMORY_TEMPERATURE, PCIE_SENT, PCIE_RECEIVED, NVLINK_SENT_KIB, NVLINK_RECEIVED_KIB),
    *THROTTLED_NS.values(),
)


def read(calls: Calls, wanted: Sequence[Key] = WANTED) -> dict[Key, int]:
    """Return the values that the device has of those wanted.

    Raises DeviceError for errors that are not about single values.
    """
    asked = tuple(key for key in wanted if not calls.skips(key))
    values = calls.get("nvmlDeviceGetFieldValues", asked) if asked else None
    found: dict[Key, int] = {}
    for key, value in zip(asked, values or (), strict=False):
        if value.nvmlReturn == pynvml.NVML_SUCCESS:
            member = _WHOLE_NUMBERS.get(value.valueType)
            if member is not None and member in (_LARGE if key in _FAST else _WHOLE_NUMBERS.values()):
                found[key] = int(getattr(value.value, member))
        else:
            calls.note(key, value.nvmlReturn, f"field {key[0]}")
    return found
