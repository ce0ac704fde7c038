"""Completions, responses and chat's extras: what the server was asked, and where Azure wants it."""

import pytest
from pydantic import ValidationError

from exporter.model.outcome import Outcome
from exporter.model.target import Azure, Header, KeySource
from exporter.probes import chat, completions, responses
from exporter.probes.base import Api
from tests.fakes.scripted_server import ScriptedServer, streaming
from tests.model.streams import DONE, event, role, stop, text
from tests.probes.goods import good
from tests.probes.sockets import GOOD, KEY
from tests.probes.specs import doors, spec, target

TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}


def test_tools_and_formats_are_sent() -> None:
    params = chat.Params(tools=(TOOL,), tool_choice="required", response_format={"type": "json_object"})
    body = chat.body_of("m", params)
    assert body["tools"] == [TOOL]
    assert (body["tool_choice"], body["response_format"]) == ("required", {"type": "json_object"})
    with pytest.raises(ValidationError, match="tool_choice needs tools"):
        chat.Params(tool_choice="auto")


def test_a_picture_goes_with_the_prompt() -> None:
    (message,) = chat.body_of("m", chat.Params(image=True), "what is it?")["messages"]  # type: ignore[misc]
    words, picture = message["content"]
    assert words == {"type": "text", "text": "what is it?"}
    assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")
    with pytest.raises(ValidationError, match="without prompts, nonce, input_tokens and image"):
        chat.Params(messages=({"role": "user", "content": "x"},), image=True)


async def test_a_completions_request_as_the_server_saw_it(api: Api) -> None:
    async with ScriptedServer(good("completions")) as server:
        params = completions.Params(prompt="hi", max_tokens=4)
        result = await completions.run(target(server.url), spec("completions", params), doors(api))
    (request,) = server.requests
    assert result.outcome is Outcome.OK, result.detail
    assert request.path == "/v1/completions"
    assert request.json == {
        "model": "m",
        "prompt": "hi",
        "max_tokens": 4,
        "stream": True,
        "temperature": 0.0,
        "stream_options": {"include_usage": True},
    }


async def test_a_responses_request_as_the_server_saw_it(api: Api) -> None:
    async with ScriptedServer(good("responses")) as server:
        params = responses.Params(prompt="hi", max_tokens=16, system="be brief", temperature=None)
        result = await responses.run(target(server.url), spec("responses", params), doors(api))
    (request,) = server.requests
    assert result.outcome is Outcome.OK, result.detail
    assert (result.tokens.input, result.tokens.output, result.tokens.cached) == (9, 4, 3)
    assert request.path == "/v1/responses"
    assert request.json == {
        "model": "m",
        "input": "hi",
        "max_output_tokens": 16,
        "stream": True,
        "store": False,
        "instructions": "be brief",
    }


async def test_azure_has_the_deployment_in_the_path_and_an_empty_first_chunk(api: Api) -> None:
    first = event(choices=[], prompt_filter_results=[{"prompt_index": 0}])
    script = streaming((0.0, first), (0.0, role()), (0.02, text()), (0.0, stop()), (0.0, DONE))
    async with ScriptedServer(script) as server:
        where = target(
            server.url.removesuffix("/v1"),
            key=KeySource(env="KEY"),
            azure=Azure(api_version="2024-10-21", deployment="prod"),
        )
        result = await chat.run(where, spec(), doors(api))
    (request,) = server.requests
    assert result.outcome is Outcome.OK, result.detail
    assert request.path == "/openai/deployments/prod/chat/completions?api-version=2024-10-21"
    assert request.headers["api-key"] == KEY
    assert "authorization" not in request.headers


async def test_a_targets_own_headers_go_along_and_may_replace_the_key(api: Api) -> None:
    own = (
        Header(name="X-Tenant", value="ops"),
        Header(name="Authorization", source=KeySource(env="KEY")),
    )
    async with ScriptedServer(GOOD) as server:
        result = await chat.run(target(server.url, headers=own), spec(), doors(api))
        missing = target(server.url, headers=(Header(name="X-A", source=KeySource(env="NOT_SET")),))
        refused = await chat.run(missing, spec(), doors(api))
    (request,) = server.requests
    assert result.outcome is Outcome.OK, result.detail
    assert (request.headers["x-tenant"], request.headers["authorization"]) == ("ops", KEY)
    assert refused.outcome is Outcome.AUTH
    assert refused.detail == "environment variable NOT_SET is not set; set it to the header X-A and restart"
    assert KEY not in repr(result)


async def test_an_answer_that_is_not_what_is_expected(api: Api) -> None:
    params = chat.Params.model_validate({"expect": {"contains": "Paris"}})
    async with ScriptedServer(GOOD) as server:
        result = await chat.run(target(server.url), spec(params=params), doors(api))
    assert result.outcome is Outcome.CONTENT_MISMATCH
    assert result.timing.e2e is not None
