"""Writes the rule files: python -m prometheus.build [--check] [--runbooks URL] [--out FOLDER]."""

import argparse
import difflib
import sys
from collections.abc import Callable
from pathlib import Path

from prometheus import (
    display_rules,
    exporter_rules,
    gpu_rules,
    kernel_rules,
    no_data_rules,
    sla_rules,
    target_rules,
)
from prometheus.document import Group, text
from prometheus.promql import Pace

RULES = Path(__file__).parent / "rules"
RUNBOOKS = "docs/runbooks.md"
"""Where the runbooks are; `--runbooks` takes the address under which your team reads them."""

FILES: dict[str, tuple[Callable[[Pace], Group], ...]] = {
    "sla.yml": (sla_rules.page, sla_rules.ticket),
    "targets.yml": (target_rules.targets, no_data_rules.silence),
    "exporter.yml": (exporter_rules.exporter,),
    "gpus.yml": (gpu_rules.gpus,),
    "kernels.yml": (kernel_rules.kernels,),
    "display.yml": (display_rules.display, display_rules.load_tests),
}


def texts(pace: Pace, runbooks: str = RUNBOOKS) -> dict[str, str]:
    """Return the text of every rule file by its name."""
    return {name: text([build(pace) for build in builders], runbooks) for name, builders in FILES.items()}


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with --check print how they differ and return 1 if they do."""
    parser = argparse.ArgumentParser(description="Write the Prometheus rules from the metric catalogue.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    parser.add_argument(
        "--runbooks", default=RUNBOOKS, help="address of docs/runbooks.md as your team reads it"
    )
    parser.add_argument("--out", type=Path, default=RULES, help="folder to write into")
    options = parser.parse_args(arguments)
    wanted = texts(Pace(), options.runbooks)
    if options.check:
        return _check(wanted, options.out)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, content in wanted.items():
        (options.out / name).write_text(content, encoding="utf-8")
    return 0


def _check(wanted: dict[str, str], folder: Path) -> int:
    there = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.yml")}
    for name in sorted(wanted.keys() | there.keys()):
        old, new = (files.get(name, "").splitlines(keepends=True) for files in (there, wanted))
        sys.stdout.writelines(difflib.unified_diff(old, new, str(folder / name), "generated"))
    return int(there != wanted)


if __name__ == "__main__":
    sys.exit(main())
