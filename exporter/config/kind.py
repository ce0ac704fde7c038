"""What the configuration needs to know of a probe kind."""

from collections.abc import Callable
from typing import Protocol

from pydantic import BaseModel

from exporter.model.clocks import Clock


class Kind(Protocol):
    """A probe kind as the configuration sees it; ``exporter.probes`` supplies the real ones.

    Structural, because this floor may not import the probes above it.
    """

    @property
    def name(self) -> str:
        """What ``kind:`` says in the file."""

    @property
    def params(self) -> type[BaseModel]:
        """The model that ``params:`` is checked against."""

    @property
    def clocks(self) -> Callable[[BaseModel], frozenset[Clock]]:
        """The clocks that the kind gives with these parameters; an objective on another is refused."""
