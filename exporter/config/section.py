"""What every section of the configuration file is made of, and the texts that stand in many."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from exporter.config import names, units

MIN_EVERY_S = 1.0
MAX_EVERY_S = 86400.0
MAX_SAMPLING_S = 60.0
"""A counter of CPU energy wraps after 5 minutes at 800 W, and one wrap can be undone."""


def _every(value: object) -> float:
    every_s = units.seconds(value)
    if not MIN_EVERY_S <= every_s <= MAX_EVERY_S:
        raise ValueError("must be 1s to 1d")
    return every_s


def _sampling(value: object) -> float:
    every_s = units.seconds(value)
    if not MIN_EVERY_S <= every_s <= MAX_SAMPLING_S:
        raise ValueError("must be 1s to 1m")
    return every_s


Every = Annotated[float, BeforeValidator(_every)]
SamplingEvery = Annotated[float, BeforeValidator(_sampling)]
Price = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]
Currency = Annotated[str, AfterValidator(names.currency)]
Name = Annotated[str, AfterValidator(names.name)]
Text = Annotated[str, AfterValidator(names.printable)]
FilePath = Annotated[str, AfterValidator(names.path)]
EnvName = Annotated[str, AfterValidator(names.env)]


class Section(BaseModel):
    """A mapping of the file: unknown keys are refused, values are not converted between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
