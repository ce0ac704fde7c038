"""What else goes on while something is timed."""

import os
import time

import torch

from exporter.adapters import machine
from exporter.model.contention import foreign_cpu_s
from exporter.model.observation import Conditions
from exporter.workers.accelerators.base import Accelerator


class Witness:
    """Looks on from its creation until it is asked."""

    def __init__(self, accelerator: Accelerator | None, device: torch.device) -> None:
        self._accelerator, self._device = accelerator, device
        self._lowered = accelerator.lowered(device) if accelerator else None
        self._throttles = machine.throttle_count()
        self._account = machine.cpu_account()
        self._own_s, self._start_s = time.process_time(), time.perf_counter()

    def conditions(self) -> Conditions:
        """Return what was seen since the beginning."""
        window_s, own_s = time.perf_counter() - self._start_s, time.process_time() - self._own_s
        account = machine.cpu_account()
        if self._lowered is not None:
            throttled = self._lowered()
        else:
            throttled = ("thermal",) if machine.throttle_count() > self._throttles else ()
        return Conditions(
            window_s=window_s,
            cores=account.cores if account else os.cpu_count() or 1,
            foreign_cpu_s=foreign_cpu_s(self._account, account, own_s),
            throttled=throttled,
            other_processes=self._accelerator.others(self._device) if self._accelerator else None,
        )
