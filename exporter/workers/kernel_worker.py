"""The process that imports torch: answers questions about devices and kernels until its input closes.

Started by ``exporter.adapters.child``, never imported.  Where torch is missing or broken, every answer is
``unsupported`` and the exit status 0: that is a state of the installation, not a crash.
"""

import gc
import sys

from exporter.model.kernel import Verdict
from exporter.model.protocol import (
    Answer,
    Describe,
    Failed,
    Malformed,
    Measure,
    Question,
    Unsupported,
    question_from_json,
    to_json,
)
from exporter.workers.channel import Channel, die_with_parent
from exporter.workers.faults import one_line, verdict_of
from exporter.workers.limits import go_first

_NO_TORCH = "torch is not installed; kernel benches need it: pip install 'inference-exporter[bench]'"


def main(parent_pid: int) -> None:
    """Answer every question on standard input, one line each."""
    die_with_parent(parent_pid)
    go_first()
    channel = Channel()
    for data in channel.questions():
        question = question_from_json(data)
        if isinstance(question, Malformed):
            answer: Answer = Failed(verdict=Verdict.ERROR, detail=question.detail)
        else:
            answer = _guarded(question)
        channel.answer(to_json(answer))
        # What an exception kept alive is free only now: memory for the next question.
        gc.collect()
        if not gc.get_freeze_count():
            # Torch is not looked through again: that took 80 ms each time, a quarter of the light suite.
            gc.freeze()


def _guarded(question: Question) -> Answer:
    try:
        return _answer(question)
    except Exception as error:  # noqa: BLE001 - whatever torch raises, the parent gets an answer
        return Failed(verdict=verdict_of(error), detail=one_line(error))


def _answer(question: Question) -> Answer:
    try:
        from exporter.workers import devices, group_bench  # noqa: PLC0415 - torch may be missing
    except ModuleNotFoundError as error:
        if error.name == "torch":
            return Unsupported(detail=_NO_TORCH)
        raise
    except (ImportError, OSError) as error:
        return Unsupported(detail=f"torch is installed but cannot be imported: {one_line(error)}")
    if isinstance(question, Describe):
        return devices.environment()
    if isinstance(question, Measure):
        return group_bench.measure(question)
    return group_bench.sustain(question.run, question.seconds)


if __name__ == "__main__":
    main(int(sys.argv[1]))
