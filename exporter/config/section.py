"""What every part of the configuration file is made of."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from exporter.config import names, units

MIN_EVERY_S = 1.0
MAX_EVERY_S = 86400.0
MAX_TIMEOUT_S = 3600.0


def _every(value: object) -> float:
    every_s = units.seconds(value)
    if not MIN_EVERY_S <= every_s <= MAX_EVERY_S:
        raise ValueError("must be 1s to 1d")
    return every_s


def _timeout(value: object) -> float:
    timeout_s = units.seconds(value)
    if not 0 < timeout_s <= MAX_TIMEOUT_S:
        raise ValueError("must be more than 0s and at most 1h")
    return timeout_s


Every = Annotated[float, BeforeValidator(_every)]
Timeout = Annotated[float, BeforeValidator(_timeout)]
Share = Annotated[float, BeforeValidator(units.share)]
Name = Annotated[str, AfterValidator(names.name)]
Text = Annotated[str, AfterValidator(names.printable)]
FilePath = Annotated[str, AfterValidator(names.path)]
EnvName = Annotated[str, AfterValidator(names.env)]
Price = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Rate = Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


class Section(BaseModel):
    """A mapping of the file: unknown keys are refused, values are not converted between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
