"""The committed dashboards, read as Grafana reads them: panels, queries, variables filled in."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DASHBOARDS = {
    path.name: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "grafana" / "dashboards").glob("*.json"))
}
Json = dict[str, Any]
BUILT_IN = {"__rate_interval": "5s", "__range": "1h", "__interval": "1s"}


@dataclass(frozen=True)
class Asked:
    """A query of a panel."""

    board: str
    panel: Json
    ref: str
    expr: str

    def __str__(self) -> str:
        return f"{self.board}: {self.panel['title']} {self.ref}"


def panels(board: Json) -> Iterator[Json]:
    """Every panel, those in folded rows too; rows themselves not."""
    for panel in board["panels"]:
        if panel["type"] == "row":
            yield from panel["panels"]
        else:
            yield panel


def asked(name: str) -> list[Asked]:
    return [
        Asked(name, panel, target["refId"], target["expr"])
        for panel in panels(DASHBOARDS[name])
        for target in panel.get("targets", ())
    ]


EVERY = [query for name in DASHBOARDS for query in asked(name)]


def filled(text: str, chosen: Mapping[str, str]) -> str:
    """The text with its variables replaced.  Raises KeyError for one that the board does not have."""
    known = {**BUILT_IN, **chosen}
    return re.sub(r"\$\{?([a-z_]\w*)\}?", lambda match: known[match[1]], text)


def variables(board: Json, kind: str) -> list[Json]:
    return [each for each in board["templating"]["list"] if each["type"] == kind]


def fixed(board: Json) -> dict[str, str]:
    """The variables with fixed choices, at their first one: a test has no hours to wait."""
    return {each["name"]: each["query"].split(",")[0] for each in variables(board, "custom")}
