"""The Locust file, for load that one machine cannot make; docs/load.md says how it is started.

OPENAI_BASE_URL, OPENAI_MODEL and OPENAI_API_KEY name the endpoint, LOAD_PROMPT and LOAD_MAX_TOKENS what is
asked, LOAD_OUT the run file that the master writes.  Each Locust user is one client of a closed loop;
Locust's own table stays empty, since the requests are not its own.
"""

import os
import time
from pathlib import Path
from typing import Any

import gevent
from locust import User, constant, events, task
from locust.runners import MasterRunner, WorkerRunner

from exporter.load.locust_cell import Cell, Gathering, sent
from exporter.load.order import LoadOrder
from exporter.load.runfile import dumps
from exporter.model.load_plan import MOST_CONCURRENCY, MOST_REQUESTS, Bounds, LoadPlan, Prompt
from exporter.model.target import KeySource, Target

_MESSAGE = "inference-load-tally"
_WAIT_S = 30.0


def _order() -> LoadOrder:
    has_key = bool(os.environ.get("OPENAI_API_KEY", "").strip())
    prompt = Prompt(
        text=os.environ.get("LOAD_PROMPT", "Count from 1 to 40."),
        max_tokens=int(os.environ.get("LOAD_MAX_TOKENS", "64")),
    )
    return LoadOrder(
        plan=LoadPlan(
            scenario="locust",
            prompts=(prompt,),
            bounds=Bounds(requests=MOST_REQUESTS, concurrency=MOST_CONCURRENCY),
        ),
        target=Target(
            name="env",
            base_url=os.environ["OPENAI_BASE_URL"],
            model=os.environ["OPENAI_MODEL"],
            key=KeySource(env="OPENAI_API_KEY") if has_key else None,
        ),
    )


ORDER = _order()
STATE: dict[str, Any] = {"cell": None, "clients": 0, "reader": None}


class LoadUser(User):
    """A client that its worker's load process drives; by itself it only waits."""

    wait_time = constant(1)

    @task
    def wait(self) -> None:
        """Do nothing: the requests are sent elsewhere."""


@events.init.add_listener
def _prepare(environment: Any, **_: Any) -> None:
    """Have the master gather what the workers send."""
    if isinstance(environment.runner, MasterRunner):
        STATE["gathering"] = Gathering(ORDER, time.time())

        def take(msg: Any, **_: Any) -> None:
            STATE["gathering"].take(msg.data)

        environment.runner.register_message(_MESSAGE, take)


@events.spawning_complete.add_listener
def _begin(user_count: int, **_: Any) -> None:
    """Start this worker's load once all users are there; the event comes with the count of all of them."""
    runner = STATE.get("runner")
    if not isinstance(runner, WorkerRunner) or STATE["cell"] is not None:
        return
    own = runner.user_count
    if own:
        share = max(1, round(user_count / own))
        cell = Cell(ORDER, own, share)
        STATE.update(cell=cell, clients=own, reader=gevent.spawn(cell.follow, lambda _: None))


@events.init.add_listener
def _remember(environment: Any, **_: Any) -> None:
    STATE["runner"] = environment.runner


@events.test_stop.add_listener
def _end(environment: Any, **_: Any) -> None:
    """Stop this worker's load and send what it measured."""
    cell = STATE["cell"]
    if cell is None:
        return
    cell.stop()
    STATE["reader"].join(timeout=_WAIT_S)
    environment.runner.send_message(_MESSAGE, sent(cell, STATE["clients"]))
    STATE["cell"] = None


@events.quitting.add_listener
def _write(**_: Any) -> None:
    """Have the master write the run file."""
    gathering = STATE.get("gathering")
    if gathering is not None:
        Path(os.environ.get("LOAD_OUT", "run.json")).write_text(
            dumps(gathering.run()) + "\n", encoding="utf-8"
        )
