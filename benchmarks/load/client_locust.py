"""A Locust user that streams through the openai SDK, as its users write them.

BASE_URL=... OUT=... locust -f client_locust.py --headless -u STREAMS -r STREAMS -t SECONDSs --stop-timeout 15
"""

import os
import time

import openai
from kept import TOKENS, Kept, write
from locust import User, constant, events, task

KEPT = Kept()
CLIENT = openai.OpenAI(base_url=os.environ["BASE_URL"], api_key="x", max_retries=0, timeout=60)


class Streamer(User):
    wait_time = constant(0)

    @task
    def ask(self) -> None:
        name, at = KEPT.next_name(), []
        sent_ns = time.monotonic_ns()
        chunks = CLIENT.chat.completions.create(
            model="mock",
            messages=[{"role": "user", "content": "w1 " * 64}],
            max_tokens=TOKENS,
            stream=True,
            stream_options={"include_usage": True},
            extra_headers={"X-Request-ID": name},
        )
        for chunk in chunks:
            if chunk.choices and chunk.choices[0].delta.content:
                at.append(time.monotonic_ns())  # noqa: PERF401 - as users write it
        over_ns = time.monotonic_ns()
        KEPT.add(name, sent_ns, at, over_ns)
        events.request.fire(
            request_type="chat",
            name="chat",
            response_time=(over_ns - sent_ns) / 1e6,
            response_length=0,
            exception=None,
            context={},
        )


@events.test_start.add_listener
def start(**_: object) -> None:
    KEPT.begin()


@events.quitting.add_listener
def stop(**_: object) -> None:
    write(KEPT, os.environ["OUT"])
