"""docs/configuration.md names every key with its default and meaning, and its examples work."""

import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from exporter.config import power_schema, schema, schema_access, schema_load
from exporter.config.load import load
from exporter.config.section import Section
from exporter.config.units import duration
from exporter.kernels.suite import SUITES
from exporter.probes import KINDS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "configuration.md").read_text(encoding="utf-8")

PLAIN_NUMBERS = {"temperature", "max_rate", "amortise_years", "pue"}
SECTIONS: dict[str, type[BaseModel]] = {
    "The file": schema.File,
    "defaults": schema.Defaults,
    "targets[]": schema.Target,
    "targets[].prices": schema_access.Prices,
    "targets[].power": power_schema.TargetPower,
    "targets[].cost": schema_load.Cost,
    "targets[].load[]": schema_load.Load,
    "good": schema_load.Good,
    "targets[].tls": schema_access.Tls,
    "targets[].headers[]": schema_access.Header,
    "targets[].azure": schema_access.Azure,
    "targets[].budget": schema_access.Budget,
    "targets[].probes[]": schema.Probe,
    "sla": schema.Sla,
    "confirm": schema.Confirm,
    "percentiles": schema.Latency,
    "benches[]": schema.Bench,
    "peaks{}": schema.Peak,
    "power": power_schema.Power,
    "web": schema.Web,
} | {f"params of kind {kind.name}": kind.params for kind in KINDS.values()}


def rows(heading: str, page: str = PAGE) -> dict[str, list[str]]:
    """Return the cells of each table row under a heading, by the key in the first one."""
    (body,) = re.findall(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    lines = [line for line in body.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0].strip("| `"): row[1:] for row in cells}


def keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


@pytest.mark.parametrize("heading", SECTIONS)
def test_section_has_exactly_the_keys_of_its_model(heading: str) -> None:
    assert set(rows(heading)) == set(keys(SECTIONS[heading]))


@pytest.mark.parametrize(("heading", "model"), SECTIONS.items(), ids=str)
def test_meaning_and_default_are_those_of_the_code(heading: str, model: type[BaseModel]) -> None:
    table = rows(heading)
    for key, field in keys(model).items():
        _, default, meaning = (cell.strip("` ") for cell in table[key])
        assert field.description is None or meaning == field.description, key
        assert (default == "required") == field.is_required(), key
        if key in PLAIN_NUMBERS:
            assert float(default) == field.default, key
        elif isinstance(field.default, float) and issubclass(model, Section):
            assert default == duration(field.default), key
        elif isinstance(field.default, (str, int)):
            assert default == str(field.default).replace("True", "true").replace("False", "false"), key


@pytest.mark.parametrize("path", sorted(DOCS.glob("examples/*.yml")), ids=lambda path: path.name)
def test_example_loads(path: Path) -> None:
    load(path, KINDS, SUITES)


def test_full_example_has_every_key() -> None:
    text = (DOCS / "examples" / "full.yml").read_text(encoding="utf-8")
    ours = [model for heading, model in SECTIONS.items() if not heading.startswith("params")]
    names = {key for model in ours for key in keys(model)}
    missing = {name for name in names if not re.search(rf"\b{re.escape(name)}:", text)}
    assert not missing


def test_snippet_on_the_page_loads(tmp_path: Path) -> None:
    (snippet,) = re.findall(r"^    (sla: .*)$", PAGE, re.MULTILINE)
    path = tmp_path / "c.yml"
    head = "targets: [{name: t, base_url: 'http://h/v1', model: m, probes: [{name: a, kind: chat, "
    path.write_text(f"{head}{snippet}}}]}}]\n")
    (spec,) = load(path, KINDS).targets[0].probes
    assert [objective.sli for objective in spec.objectives] == [
        "ttft_p50",
        "ttft_p99",
        "e2e_p99_9",
        "availability",
    ]
