import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from exporter.kernels.cases import ARTICLE
from exporter.model.kernel import Verdict
from exporter.model.observation import Environment, Group
from exporter.model.protocol import Describe, Failed, Measure, Unsupported, answer_from_json, to_json
from exporter.workers.faults import verdict_of

ROOT = Path(__file__).parents[2]
ON_CPU = Measure(case=ARTICLE, device="cpu", variants=ARTICLE.variants)


def converse(*lines, path=str(ROOT)):
    """Give the real worker these lines; return its exit status, its answers and what it complained."""
    done = subprocess.run(
        [sys.executable, "-m", "exporter.workers.kernel_worker", str(os.getpid())],
        input="".join(json.dumps(line) + "\n" for line in lines),
        env={"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PATH": os.environ["PATH"]},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    return (
        done.returncode,
        [answer_from_json(json.loads(line)) for line in done.stdout.splitlines()],
        done.stderr,
    )


@pytest.mark.parametrize(
    ("stub", "words"),
    [
        pytest.param(
            "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')",
            "torch is not installed; kernel benches need it: pip install 'inference-exporter[bench]'",
            id="absent",
        ),
        pytest.param(
            "raise ImportError('libcudart.so.13: cannot open shared object file')",
            "cannot be imported: ImportError: libcudart.so.13",
            id="broken",
        ),
        pytest.param(
            "raise OSError('libtorch_cpu.so: file too short')", "cannot be imported: OSError", id="damaged"
        ),
    ],
)
def test_without_a_usable_torch_every_answer_says_so_and_the_exit_is_clean(tmp_path, stub, words):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(stub)
    questions = [to_json(Describe()), to_json(ON_CPU)]
    status, answers, _ = converse(*questions, path=f"{tmp_path}{os.pathsep}{ROOT}")
    assert status == 0
    assert [type(answer) for answer in answers] == [Unsupported, Unsupported]
    assert all(words in answer.detail for answer in answers)


def test_a_missing_module_that_is_not_torch_is_an_error_not_a_missing_torch(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import a_module_that_nobody_has")
    _, answers, _ = converse(to_json(Describe()), path=f"{tmp_path}{os.pathsep}{ROOT}")
    assert answers == [
        Failed(
            verdict=Verdict.ERROR, detail="ModuleNotFoundError: No module named 'a_module_that_nobody_has'"
        )
    ]


def test_a_question_of_another_version_is_refused_and_the_worker_goes_on():
    status, answers, _ = converse(
        to_json(Describe()) | {"protocol": 7}, to_json(Describe()) | {"kind": "sing"}
    )
    assert status == 0
    assert [answer.verdict for answer in answers] == [Verdict.ERROR, Verdict.ERROR]
    assert "two versions" in answers[0].detail
    assert "'sing'" in answers[1].detail


def test_what_a_library_prints_is_no_answer(tmp_path):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text(
        "import os\nprint('hello from torch', flush=True)\nos.write(1, b'and from C\\n')\nraise ImportError"
    )
    _, answers, complaints = converse(to_json(Describe()), path=f"{tmp_path}{os.pathsep}{ROOT}")
    assert [type(answer) for answer in answers] == [Unsupported]
    assert "hello from torch" in complaints
    assert "and from C" in complaints


@pytest.mark.torch
def test_one_worker_survives_what_it_cannot_do():
    elsewhere = dataclasses.replace(ON_CPU, device="cuda:99")
    status, answers, _ = converse(to_json(Describe()), to_json(elsewhere), to_json(ON_CPU))
    assert status == 0
    assert [type(answer) for answer in answers] == [Environment, Failed, Group]
    assert answers[0].threads == 1
    assert answers[0].devices[0].device == "cpu"
    assert answers[0].devices[0].name
    assert answers[1].verdict is Verdict.ERROR
    # On a machine that is busy enough even this is too much for its budget.
    assert {seen.verdict for seen in answers[2].seen} <= {Verdict.OK, Verdict.PREDICTED_COST}


class OutOfMemoryError(RuntimeError):
    """Named as torch's own."""


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        pytest.param(MemoryError(), Verdict.OUT_OF_MEMORY, id="Python's"),
        pytest.param(OutOfMemoryError("CUDA"), Verdict.OUT_OF_MEMORY, id="an accelerator's"),
        pytest.param(
            RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 4 bytes"),
            Verdict.OUT_OF_MEMORY,
            id="the CPU allocator's",
        ),
        pytest.param(
            RuntimeError("mat1 and mat2 shapes cannot be multiplied"), Verdict.ERROR, id="another error"
        ),
    ],
)
def test_running_out_of_memory_is_told_from_other_errors(error, verdict):
    assert verdict_of(error) is verdict
