"""What every mapping of the configuration file has in common."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A mapping of the file: unknown keys are refused, values are not converted between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
