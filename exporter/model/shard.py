"""Which of several exporters with one configuration probes which target: rendezvous hashing."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256

from exporter.model.configuration import Configuration

MOST = 1000
"""Shards; every target is weighed against each of them."""


@dataclass(frozen=True, slots=True)
class Shard:
    """The part ``number`` (from 0) of ``count``."""

    number: int
    count: int

    def __str__(self) -> str:
        """Return it as the command line has it."""
        return f"{self.number}/{self.count}"


def parse_shard(text: str) -> Shard:
    """Return the shard that ``I/N`` names.  Raises ValueError, saying what to write, for anything else."""
    match = re.fullmatch(r"(\d{1,4})/(\d{1,4})", text, re.ASCII)
    if match is None:
        raise ValueError(f"{text!r} is no shard; write I/N, such as 0/3 for the first of three")
    shard = Shard(int(match[1]), int(match[2]))
    if not 1 <= shard.count <= MOST:
        raise ValueError(f"{text}: there can be 1 to {MOST} shards")
    if shard.number >= shard.count:
        raise ValueError(f"{text}: the shards of {shard.count} are numbered 0 to {shard.count - 1}")
    return shard


def owner(name: str, count: int) -> int:
    """Return the number of the shard, of ``count``, that has the target of that name.

    The one whose hash with the name is highest (Thaler and Ravishankar, 1998): with one shard more, 1 in
    ``count + 1`` targets move, all of them to the new one; nothing else moves.
    """
    return max(range(count), key=lambda number: sha256(f"{number}/{name}".encode()).digest())


def part(configuration: Configuration, shard: Shard) -> Configuration:
    """Return the configuration with this shard's targets only; benches are of the host and stay."""
    targets = tuple(
        plan for plan in configuration.targets if owner(plan.target.name, shard.count) == shard.number
    )
    return replace(configuration, targets=targets)


def sharded(load: Callable[[], Configuration], shard: Shard | None) -> Callable[[], Configuration]:
    """Return a reader of this shard's part of what ``load`` reads; of everything without a shard."""
    return load if shard is None else lambda: part(load(), shard)


def shards_of_changes(
    discover: Callable[[], Configuration | None], shard: Shard | None
) -> Callable[[], Configuration | None]:
    """Return the same of what ``discover`` finds changed, which is None while nothing did."""

    def discovered() -> Configuration | None:
        found = discover()
        return found if found is None or shard is None else part(found, shard)

    return discovered
