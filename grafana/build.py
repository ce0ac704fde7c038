"""Writes the dashboards: python -m grafana.build [--check] [--runbooks URL] [--out FOLDER]."""

import argparse
import json
import sys
from pathlib import Path

from grafana.board import RUNBOOKS, with_runbooks
from grafana.boards import compare, exporter, kernels, load, overview, power, target
from grafana.generated import compare as compare_files
from grafana.generated import write
from grafana.panel import Json

DASHBOARDS = Path(__file__).parent / "dashboards"
BOARDS: dict[str, Json] = {
    "overview.json": overview.BOARD,
    "target.json": target.BOARD,
    "load.json": load.BOARD,
    "compare.json": compare.BOARD,
    "kernels.json": kernels.BOARD,
    "power.json": power.BOARD,
    "exporter.json": exporter.BOARD,
}


def texts(runbooks: str = RUNBOOKS) -> dict[str, str]:
    """Return the text of every dashboard by the name of its file."""
    return {
        name: json.dumps(with_runbooks(board, runbooks), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        for name, board in BOARDS.items()
    }


def main(arguments: list[str] | None = None) -> int:
    """Write the files, or with --check print how they differ and return 1 if they do."""
    parser = argparse.ArgumentParser(description="Write the Grafana dashboards from the metric catalogue.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a file differs")
    parser.add_argument(
        "--runbooks", default=RUNBOOKS, help="address of docs/runbooks.md as your team reads it"
    )
    parser.add_argument("--out", type=Path, default=DASHBOARDS, help="folder to write into")
    options = parser.parse_args(arguments)
    wanted = texts(options.runbooks)
    if options.check:
        return compare_files(wanted, options.out, "*.json")
    return write(wanted, options.out)


if __name__ == "__main__":
    sys.exit(main())
