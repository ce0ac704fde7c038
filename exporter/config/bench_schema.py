"""Keys of the kernel benches: when they run, and what is known of devices."""

from typing import Annotated, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from exporter.config import names, units
from exporter.config.section import Every, Section
from exporter.model.configuration import EVERY_THREAD

Rate = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


def _devices(value: object) -> object:
    if value == "auto":
        return []
    if isinstance(value, str):
        return [value]
    if value == []:
        raise ValueError("names no device; write auto for every device found")
    return value


def _threads(value: object) -> object:
    return EVERY_THREAD if value == "all" else value


def _quiet(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Bench(Section):
    """A suite of kernel benches on a schedule."""

    suite: Annotated[str, AfterValidator(names.name)] = Field(description="Name of the suite, such as light.")
    every: Every = Field(default=300.0, description="Time from one start to the next, 1s to 1d.")
    devices: Annotated[list[Annotated[str, AfterValidator(names.device)]], BeforeValidator(_devices)] = Field(
        default_factory=list, description="auto (every device found), or cpu, mps, cuda:N, xpu:N."
    )
    threads: Annotated[int, Field(ge=1), BeforeValidator(_threads)] = Field(
        default=1, description="Threads of a CPU operation: a number, or all that can run at once."
    )
    quiet: Annotated[list[Annotated[str, AfterValidator(units.hours_text)]], BeforeValidator(_quiet)] = Field(
        default_factory=list, description="Hours of the day without a run, such as 08:00-18:00, local time."
    )


class Peak(Section):
    """What one device can do at most; overrides what is known of it."""

    float32: Rate | None = Field(default=None, description="Dense TFLOP/s in float32.")
    tf32: Rate | None = Field(default=None, description="Dense TFLOP/s in TF32.")
    bfloat16: Rate | None = Field(default=None, description="Dense TFLOP/s in bfloat16.")
    float16: Rate | None = Field(default=None, description="Dense TFLOP/s in float16.")
    float8_e4m3: Rate | None = Field(default=None, description="Dense TFLOP/s in 8-bit floating point.")
    int8: Rate | None = Field(default=None, description="Dense TOP/s in 8-bit integers.")
    bandwidth: Rate | None = Field(default=None, description="Memory bandwidth in GB/s.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("names no peak; write one, such as {bfloat16: 989, bandwidth: 3350}")
        return self
