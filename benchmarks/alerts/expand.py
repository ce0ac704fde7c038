"""The committed rules as single expressions: recorded series replaced by what they are recorded from."""

import re
from pathlib import Path

import yaml

RULES = Path(__file__).parents[2] / "prometheus" / "rules" / "sla.yml"


def recorded() -> dict[str, str]:
    """Return every recording rule of the page's file by its name."""
    return {rule["record"]: rule["expr"] for rule in _rules() if "record" in rule}


def condition(alert: str) -> str:
    """Return the expression of an alert without its severity, on raw series."""
    (rule,) = (rule for rule in _rules() if rule.get("alert") == alert)
    return expand(rule["expr"].rpartition("\n* on")[0], recorded())


def expand(expr: str, known: dict[str, str]) -> str:
    """Replace recorded names by their expressions until none is left; offsets become those of the parts."""
    name = re.compile(r"(?<![\w:])[a-z_]+:[\w:]+")
    while match := name.search(expr):
        inner = known[match[0]]
        rest = expr[match.end() :]
        offset = re.match(r" offset \w+", rest)
        if offset:
            inner, rest = _shifted(inner, offset[0]), rest[offset.end() :]
        expr = f"{expr[: match.start()]}({inner}){rest}"
    return expr


def _shifted(expr: str, offset: str) -> str:
    return re.sub(r"\b(inference_\w+)", rf"\1{offset}", expr)


def _rules() -> list[dict[str, str]]:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]
