import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from exporter.adapters import child as child_module
from exporter.adapters.child import MAX_LINE_BYTES, Child, ChildEnd, ChildFault, start_child

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}


@contextlib.asynccontextmanager
async def being(behaviour):
    started = await start_child("tests.adapters.zoo", str(os.getpid()), environment=ENVIRONMENT)
    assert isinstance(started, Child)
    try:
        started.send({"be": behaviour})
        yield started
    finally:
        await started.stop()


def gone(pid):
    """Dead, whether or not whoever inherited it has taken note."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def becomes(condition, within_s=20):
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


@pytest.mark.parametrize(
    ("behaviour", "fault", "words"),
    [
        pytest.param("segfault", ChildFault.CRASHED, "SIGSEGV", id="a signal is named"),
        pytest.param(
            "realtime_signal", ChildFault.CRASHED, "signal 37", id="a signal without a name has its number"
        ),
        pytest.param(
            "exit_three",
            ChildFault.CRASHED,
            "exit status 3: the driver said no",
            id="the last words are kept",
        ),
        pytest.param(
            "end_quietly", ChildFault.BAD_OUTPUT, "without an answer", id="a clean exit is no answer"
        ),
        pytest.param(
            "half_a_line", ChildFault.BAD_OUTPUT, "without an answer", id="half a line is no answer"
        ),
        pytest.param(
            "flood_one_line", ChildFault.BAD_OUTPUT, str(MAX_LINE_BYTES), id="an endless line is cut off"
        ),
        pytest.param("bad_json", ChildFault.BAD_OUTPUT, "torch says hello", id="chatter is quoted"),
        pytest.param("json_but_no_object", ChildFault.BAD_OUTPUT, "[1, 2]", id="a list is no object"),
        pytest.param(
            "nested_too_deep", ChildFault.BAD_OUTPUT, "[[[[", id="nesting cannot overflow the parser"
        ),
    ],
)
async def test_every_way_to_fail_is_a_value_and_the_child_is_gone(behaviour, fault, words):
    async with being(behaviour) as child:
        end = await child.receive(30)
        assert isinstance(end, ChildEnd)
        assert end.fault is fault
        assert words in end.detail
        assert "\n" not in end.detail
        assert gone(child.pid)


async def test_a_hung_child_that_ignores_sigterm_is_killed_at_the_deadline():
    async with being("hang") as child:
        end = await child.receive(0.5)
        assert end == ChildEnd(ChildFault.TIMEOUT, "no answer within 0.5 s; killed")
        assert gone(child.pid)


async def test_a_child_that_closes_its_output_and_goes_on_is_killed(monkeypatch):
    monkeypatch.setattr(child_module, "REAP_S", 0.5)
    async with being("close_output_and_go_on") as child:
        end = await child.receive(30)
        assert isinstance(end, ChildEnd)
        assert end.fault is ChildFault.BAD_OUTPUT
        assert becomes(lambda: gone(child.pid))


async def test_the_whole_family_is_killed():
    async with being("hang_with_family") as child:
        grandchild = (await child.receive(30))["grandchild"]
        assert not gone(grandchild)
        assert isinstance(await child.receive(0.2), ChildEnd)
    assert becomes(lambda: gone(grandchild))


async def test_stop_kills_a_child_in_the_middle_of_a_flood():
    async with being("flood_lines") as child:
        assert await child.receive(30) == {"more": "and more"}
        await asyncio.sleep(0.3)
        before = psutil.Process().memory_info().rss
        await asyncio.sleep(0.5)
        assert psutil.Process().memory_info().rss - before < 8 * MAX_LINE_BYTES
    assert gone(child.pid)


async def test_a_flood_of_errors_neither_blocks_nor_is_kept():
    async with being("flood_stderr") as child:
        assert await child.receive(60) == {"still": "here"}
        assert len(child._stderr_tail) <= child_module.STDERR_TAIL_BYTES


async def test_questions_and_answers_go_on_with_one_child():
    async with being("echo") as child:
        for number in range(3):
            child.send({"number": number})
            assert await child.receive(30) == {"echo": {"number": number}}


async def test_cancelling_the_wait_leaves_no_child():
    async def wait_for_it():
        async with being("hang") as child:
            pid.set_result(child.pid)
            await child.receive(600)

    pid: asyncio.Future[int] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(wait_for_it())
    await pid
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(pid.result())


async def test_stop_may_be_called_again_and_sending_to_the_dead_is_harmless():
    async with being("segfault") as child:
        await child.receive(30)
        child.send({"are you": "there"})
        await child.stop()
        await child.stop()


async def test_a_child_has_exactly_the_environment_it_was_given_and_a_session_of_its_own(monkeypatch):
    monkeypatch.setenv("PROD_KEY", "sk-secret")
    async with being("tell") as child:
        told = await child.receive(30)
        assert set(told["environment"]) <= {*ENVIRONMENT, "LC_CTYPE"}
        assert told["session"] == told["pid"] == child.pid
        assert os.getsid(0) != child.pid


async def test_an_interpreter_that_is_not_there_is_not_started(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python-gone"))
    end = await start_child("tests.adapters.zoo", str(os.getpid()), environment=ENVIRONMENT)
    assert isinstance(end, ChildEnd)
    assert end.fault is ChildFault.NOT_STARTED
    assert "python-gone" in end.detail


PARENT = """
import asyncio
from tests.adapters.test_child import being

async def main():
    async with being("tell") as child:
        await child.receive(60)
        print(child.pid, flush=True)
        await child.receive(600)

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "deadly",
    [
        pytest.param(signal.SIGKILL, id="killed"),
        pytest.param(signal.SIGTERM, id="terminated"),
        pytest.param(signal.SIGINT, id="interrupted"),
    ],
)
def test_a_parent_that_dies_takes_its_child_along(deadly):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as parent:
        pid = int(parent.stdout.readline())
        assert not gone(pid)
        parent.send_signal(deadly)
        parent.wait(30)
        assert becomes(lambda: gone(pid))


def test_a_child_whose_parent_is_gone_already_ends_at_once():
    orphan = (
        "import sys; from exporter.workers.channel import die_with_parent; die_with_parent(1 << 30); print(1)"
    )
    done = subprocess.run(
        [sys.executable, "-c", orphan],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert done.stdout == ""
