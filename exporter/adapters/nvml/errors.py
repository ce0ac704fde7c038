"""What each NVML error means to a long-running sampler."""

from enum import Enum, auto
from types import MappingProxyType

import pynvml

from exporter.model.power import Fault


class Reaction(Enum):
    """What to do about an error."""

    SKIP = auto()
    """This device does not give this value: leave it out, and ask again in an hour."""
    NEVER = auto()
    """The driver has no such function: leave it out until the worker starts again."""
    DEVICE = auto()
    """The device gives nothing at present; the others go on."""
    ENUMERATE = auto()
    """The set of devices changed: look again which there are."""
    INITIALIZE = auto()
    """The library must be initialised again."""
    RESTART = auto()
    """Only another process can load the library of the new driver."""


_REACTIONS = MappingProxyType(
    {
        pynvml.NVML_ERROR_UNINITIALIZED: Reaction.INITIALIZE,
        pynvml.NVML_ERROR_INVALID_ARGUMENT: Reaction.ENUMERATE,
        pynvml.NVML_ERROR_INSUFFICIENT_SIZE: Reaction.ENUMERATE,
        pynvml.NVML_ERROR_NOT_SUPPORTED: Reaction.SKIP,
        pynvml.NVML_ERROR_NO_PERMISSION: Reaction.SKIP,
        pynvml.NVML_ERROR_NOT_FOUND: Reaction.SKIP,
        pynvml.NVML_ERROR_NO_DATA: Reaction.SKIP,
        pynvml.NVML_ERROR_VGPU_ECC_NOT_SUPPORTED: Reaction.SKIP,
        pynvml.NVML_ERROR_DEPRECATED: Reaction.SKIP,
        pynvml.NVML_ERROR_FUNCTION_NOT_FOUND: Reaction.NEVER,
        pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH: Reaction.NEVER,
        pynvml.NVML_ERROR_DRIVER_NOT_LOADED: Reaction.INITIALIZE,
        pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: Reaction.INITIALIZE,
        pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: Reaction.RESTART,
    }
)

_FAULTS = MappingProxyType(
    {
        pynvml.NVML_ERROR_UNINITIALIZED: Fault.UNINITIALIZED,
        pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: Fault.NO_LIBRARY,
        pynvml.NVML_ERROR_DRIVER_NOT_LOADED: Fault.NO_DRIVER,
        pynvml.NVML_ERROR_NO_PERMISSION: Fault.NO_PERMISSION,
        pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: Fault.VERSION_MISMATCH,
        pynvml.NVML_ERROR_GPU_IS_LOST: Fault.LOST,
        pynvml.NVML_ERROR_GPU_NOT_FOUND: Fault.LOST,
        pynvml.NVML_ERROR_RESET_REQUIRED: Fault.RESET_REQUIRED,
        pynvml.NVML_ERROR_TIMEOUT: Fault.HUNG,
        # As from a handle whose device is gone.
        pynvml.NVML_ERROR_INVALID_ARGUMENT: Fault.LOST,
    }
)

_NEXT_STEPS = MappingProxyType(
    {
        Fault.NO_LIBRARY: "libnvidia-ml.so.1 is not there: no NVIDIA driver, or not in this container",
        Fault.NO_DRIVER: "the NVIDIA kernel module is not loaded; nvidia-smi says why",
        Fault.VERSION_MISMATCH: "the driver was upgraded under us; if this stays, load its module or reboot",
        Fault.LOST: "the GPU fell off the bus; dmesg has the XID, a reset or a reboot brings it back",
        Fault.RESET_REQUIRED: "nvidia-smi --gpu-reset, or reboot",
        Fault.UNKNOWN: "a container that lost /dev/nvidia* (after systemctl daemon-reload) must be restarted",
    }
)


def reaction(code: int) -> Reaction:
    """Return what to do about an error of a call on a device; what is not known is the device's fault."""
    return _REACTIONS.get(code, Reaction.DEVICE)


def fault(code: int) -> Fault:
    """Return the reason to publish."""
    return _FAULTS.get(code, Fault.UNKNOWN)


def next_step(reason: Fault) -> str:
    """Return what a reason means to people and what to do, or "" where it says all there is to say."""
    return _NEXT_STEPS.get(reason, "")
