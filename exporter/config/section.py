"""What every mapping of the configuration file has in common, and the texts that stand in many."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from exporter.config import names

Name = Annotated[str, AfterValidator(names.name)]
Text = Annotated[str, AfterValidator(names.printable)]
FilePath = Annotated[str, AfterValidator(names.path)]
EnvName = Annotated[str, AfterValidator(names.env)]
Price = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class Section(BaseModel):
    """A mapping of the file: unknown keys are refused, values are not converted between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
