"""``inference-exporter ask`` as a user types it: streaming, several turns, stopping, wrong keys."""

import asyncio

from tests.cli.command import PATIENCE_S, Ran, ended, interrupt, run, start
from tests.fakes.scripted_server import ScriptedServer, Stall, plain, streaming
from tests.model.streams import DONE, role, stop, text, usage_event
from tests.probes.sockets import ERROR, KEY

ANSWER = streaming(
    (0.0, role()),
    *[(0.02, text(word)) for word in ("Hello", " there", "!")],
    (0.0, stop() + usage_event(3) + DONE),
)


def env(server: ScriptedServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": server.url, "OPENAI_MODEL": "m", "OPENAI_API_KEY": KEY}


async def test_one_question_and_its_account() -> None:
    async with ScriptedServer(ANSWER) as server:
        ran = await run("ask", "how", "are", "you?", env=env(server))
    (request,) = server.requests
    assert (ran.code, ran.out) == (0, "Hello there!\n")
    assert ran.err.startswith("TTFT ")
    assert " tokens/s, 9 in, 3 out" in ran.err
    assert request.json["messages"] == [{"role": "user", "content": "how are you?"}]
    assert request.headers["authorization"] == f"Bearer {KEY}"


async def test_a_session_remembers_what_was_said_and_exit_ends_it() -> None:
    async with ScriptedServer(ANSWER) as server:
        ran = await run("ask", said="one\n\ntwo\nexit\nthree\n", env=env(server))
    assert ran.code == 0
    assert [len(request.json["messages"]) for request in server.requests] == [1, 3]
    assert server.requests[1].json["messages"][1] == {"role": "assistant", "content": "Hello there!"}


async def test_the_end_of_input_ends_a_session() -> None:
    async with ScriptedServer(ANSWER) as server:
        ran = await run("ask", said="one\n", env=env(server))
    assert ran.code == 0
    assert len(server.requests) == 1


async def test_an_interrupt_stops_the_answer_and_not_the_session() -> None:
    hanging = streaming((0.0, role()), (0.0, text("Half")), end=(Stall(),))
    async with ScriptedServer(hanging, ANSWER) as server:
        process = await start("ask", env=env(server))
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"one\n")
        async with asyncio.timeout(PATIENCE_S):
            seen = await process.stdout.readuntil(b"Half")
        interrupt(process)
        ran: Ran = await ended(process, "two\nexit\n")
    assert b"Half" in seen
    assert ran.code == 0, ran.err
    assert "(stopped)" in ran.err
    assert "Hello there!" in ran.out
    assert server.requests[1].json["messages"] == [
        {"role": "user", "content": "one"},
        {"role": "assistant", "content": "Half"},
        {"role": "user", "content": "two"},
    ]


async def test_a_wrong_key_is_said_clearly_and_the_question_is_taken_back() -> None:
    async with ScriptedServer(plain(ERROR[6:].strip(), "401 Unauthorized"), ANSWER) as server:
        ran = await run("ask", said="one\ntwo\nexit\n", env=env(server))
    assert "auth: HTTP 401" in ran.err
    assert "The key is missing, wrong" in ran.err
    assert KEY not in ran.err + ran.out
    assert server.requests[1].json["messages"] == [{"role": "user", "content": "two"}]


async def test_without_an_endpoint_it_says_what_to_set() -> None:
    ran = await run("ask", "hi")
    assert ran.code == 1
    assert "OPENAI_BASE_URL: not set; set it to the endpoint" in ran.err
