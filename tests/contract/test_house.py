"""The promises of CONTRIBUTING that a machine can hold."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "exporter").rglob("*.py"))
MAX_FILE_LINES = 300
MAX_FUNCTION_LINES = 50


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_file_holds_one_idea(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MAX_FILE_LINES


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_functions_fit_on_a_screen(path: Path) -> None:
    tree = ast.parse(path.read_text())
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    too_long = [f.name for f in functions if (f.end_lineno or f.lineno) - f.lineno + 1 > MAX_FUNCTION_LINES]
    assert too_long == []


def swallows_everything(node: ast.AST) -> bool:
    if not isinstance(node, ast.ExceptHandler):
        return False
    name = node.type.id if isinstance(node.type, ast.Name) else None
    is_broad = node.type is None or name in {"Exception", "BaseException"}
    last = node.body[-1]
    return is_broad and not (isinstance(last, ast.Raise) and last.exc is None)


def test_broad_handlers_stand_only_in_the_scheduler_guard_and_in_worker_mains() -> None:
    places = {
        relative(path)
        for path in SOURCES
        if any(map(swallows_everything, ast.walk(ast.parse(path.read_text()))))
    }
    assert {
        place for place in places if not place.startswith(("exporter/scheduler/", "exporter/workers/"))
    } == set()


def test_the_service_does_not_load_torch() -> None:
    code = "import sys, exporter.app, exporter.cli.run, exporter.cli.demo; print('torch' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert answer.stdout.strip() == "False"
