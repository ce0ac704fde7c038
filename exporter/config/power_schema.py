"""The keys about power."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from exporter.config import address, names
from exporter.config.section import Currency, Price, SamplingEvery, Section


class TargetPower(Section):
    """Where the power of what serves a target is known from; exactly one of the keys."""

    gpus: list[Annotated[str, AfterValidator(names.gpu)]] | None = Field(
        default=None, min_length=1, max_length=64, description="UUIDs of GPUs of this host, added up."
    )
    watts: Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] | None = Field(
        default=None, description="Watts that somebody vouches for, where nothing can be read."
    )
    promql: Annotated[str, Field(min_length=1, max_length=2000)] | None = Field(
        default=None, description="Query to `power.prometheus` whose one result is watts."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [key for key in ("gpus", "watts", "promql") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError("write exactly one of gpus, watts and promql")
        return self


class Power(Section):
    """How power is sampled on this host."""

    enabled: bool = Field(
        default=True, description="false reads no local device and starts no process for it."
    )
    every: SamplingEvery = Field(default=1.0, description="Time from one sample to the next, 1s to 1m.")
    processes: bool = Field(
        default=False, description="true adds the memory of each process on a GPU, a series for each."
    )
    prometheus: Annotated[str, AfterValidator(address.prometheus)] | None = Field(
        default=None, description="Prometheus that `promql` of targets is asked of."
    )
    price_per_kwh: Price | None = Field(default=None, description="Price of electricity.")
    currency: Currency = Field(default="USD", description="ISO 4217 code of `price_per_kwh`.")
