"""What the kinds that get one document find wrong with it, and what the server was asked."""

import base64
import json
import struct
import wave
from io import BytesIO

import pytest
from pydantic import BaseModel, ValidationError

from exporter.model.outcome import Outcome
from exporter.probes import KINDS, embeddings, http, models, rerank, transcription
from exporter.probes.base import Api
from tests.fakes.scripted_server import ScriptedServer, plain
from tests.probes.goods import BODIES, VECTOR
from tests.probes.specs import doors, spec, target

FLOATS = base64.b64encode(struct.pack("<3f", 0.1, 0.2, 0.3)).decode()
TWO = embeddings.Params(input=("a", "b"))


def vectors(*each: object) -> dict[str, object]:
    return {"data": [{"embedding": vector} for vector in each]}


EMBEDDINGS = [
    ("one vector for one text", vectors([1, 2.5]), embeddings.Params(), None),
    ("base64 carries as many numbers", vectors(FLOATS), embeddings.Params(expect_dimensions=3), None),
    ("a batch", vectors([1, 2], [3, 4]), TWO, None),
    ("a vector too few", vectors([1, 2]), TWO, "1 vectors for 2 inputs"),
    ("no data", {}, embeddings.Params(), "0 vectors"),
    ("an empty vector", vectors([]), embeddings.Params(), "not a list of finite numbers"),
    ("a null in a vector", vectors([1, None]), embeddings.Params(), "not a list of finite numbers"),
    ("not a number", vectors([1, float("nan")]), embeddings.Params(), "not a list of finite numbers"),
    ("half a float", vectors(FLOATS[:4]), embeddings.Params(), "not a list of finite numbers"),
    ("two lengths", vectors([1, 2], [3]), TWO, "not all of one length"),
    ("another length than asked", vectors([1, 2]), embeddings.Params(dimensions=3), "2 numbers, not 3"),
    ("another than expected", vectors([1]), embeddings.Params(expect_dimensions=4), "1 numbers, not 4"),
]


@pytest.mark.parametrize(("_", "body", "params", "says"), EMBEDDINGS, ids=[row[0] for row in EMBEDDINGS])
def test_embeddings(_: str, body: dict, params: embeddings.Params, says: str | None) -> None:
    wrong = embeddings.check(body, params)
    assert (wrong is None) is (says is None)
    assert says is None or (wrong is not None and says in wrong.text)


def ranked(*each: tuple[object, object]) -> dict[str, object]:
    return {"results": [{"index": index, "relevance_score": score} for index, score in each]}


RERANK = [
    ("in order", ranked((1, 0.9), (0, 0.1)), rerank.Params(expect_first=1), None),
    ("the best only", ranked((1, 0.9)), rerank.Params(top_n=1), None),
    ("more asked for than there are", ranked((1, 0.9), (0, 0.9)), rerank.Params(top_n=5), None),
    ("one too few", ranked((1, 0.9)), rerank.Params(), "1 results, not 2"),
    ("out of order", ranked((1, 0.1), (0, 0.9)), rerank.Params(), "order of their scores"),
    ("no score", ranked((1, None), (0, 0.9)), rerank.Params(), "lacks"),
    ("the same twice", ranked((1, 0.9), (1, 0.8)), rerank.Params(), "lacks"),
    ("a document that was not sent", ranked((7, 0.9), (0, 0.8)), rerank.Params(), "lacks"),
    ("another first", ranked((0, 0.9), (1, 0.1)), rerank.Params(expect_first=1), "another document"),
]


@pytest.mark.parametrize(("_", "body", "params", "says"), RERANK, ids=[row[0] for row in RERANK])
def test_rerank(_: str, body: dict, params: rerank.Params, says: str | None) -> None:
    wrong = rerank.check(body, params)
    assert (wrong is None) is (says is None)
    assert says is None or (wrong is not None and says in wrong.text)


def test_models() -> None:
    body = {"data": [{"id": "a"}, {"id": "b"}]}
    assert models.check(body, "b", listed=True) is None
    assert models.check(body, "c", listed=False) is None
    missing = models.check(body, "c", listed=True)
    assert missing is not None
    assert missing.text == "the model is not among the 2 that the server lists"
    assert models.check({"models": []}, "c", listed=False) is not None


HTTP = [
    ("any 2xx", {}, "201 Created", "x", Outcome.OK),
    ("the status that is asked for", {"status": (201,)}, "201 Created", "x", Outcome.OK),
    ("another good status", {"status": (200,)}, "201 Created", "x", Outcome.CONTENT_MISMATCH),
    ("the text is there", {"regex": r"re+ady"}, "200 OK", "is reeeady", Outcome.OK),
    ("the text is not", {"regex": "^ready$"}, "200 OK", "not ready", Outcome.CONTENT_MISMATCH),
    ("a value", {"values": [{"path": "a[0].b", "equals": 3}]}, "200 OK", '{"a":[{"b":3}]}', Outcome.OK),
    ("a value that is null", {"values": [{"path": "a", "equals": None}]}, "200 OK", '{"a":null}', Outcome.OK),
    (
        "a value that must match",
        {"values": [{"path": "a", "regex": "^x"}]},
        "200 OK",
        '{"a":"xy"}',
        Outcome.OK,
    ),
    ("it is there", {"values": [{"path": "a"}]}, "200 OK", '{"a":false}', Outcome.OK),
    (
        "another value",
        {"values": [{"path": "a", "equals": 1}]},
        "200 OK",
        '{"a":2}',
        Outcome.CONTENT_MISMATCH,
    ),
    ("it is not there", {"values": [{"path": "a.b"}]}, "200 OK", '{"a":2}', Outcome.CONTENT_MISMATCH),
    ("no JSON at all", {"values": [{"path": "a"}]}, "200 OK", "a", Outcome.CONTENT_MISMATCH),
    (
        "not one that matches",
        {"values": [{"path": "a", "regex": "z"}]},
        "200 OK",
        '{"a":"x"}',
        Outcome.CONTENT_MISMATCH,
    ),
]


@pytest.mark.parametrize(("_", "params", "status", "body", "outcome"), HTTP, ids=[row[0] for row in HTTP])
async def test_http(api: Api, _: str, params: dict, status: str, body: str, outcome: Outcome) -> None:
    async with ScriptedServer(plain(body, status, "text/plain")) as server:
        checked = http.Params.model_validate(params)
        result = await http.run(target(server.url), spec("http", checked), doors(api))
    assert result.outcome is outcome, result.detail
    assert "xy" not in result.detail


async def test_an_http_request_as_the_server_saw_it(api: Api) -> None:
    params = http.Params(
        method="POST",
        path="/models/${model}/infer?a=1",
        headers={"X-Run": "7"},
        body={"id": "${nonce}", "inputs": [{"name": "${model}", "data": [1, 2]}]},
    )
    async with ScriptedServer(plain("{}")) as server:
        await http.run(target(server.url, model='m"x'), spec("http", params), doors(api))
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v1/models/m%22x/infer?a=1")
    assert request.headers["x-run"] == "7"
    assert request.headers["content-type"] == "application/json"
    assert "authorization" not in request.headers
    assert request.json["inputs"] == [{"name": 'm"x', "data": [1, 2]}]
    assert len(request.json["id"]) == 16


async def test_a_tone_is_sent_as_a_file(api: Api) -> None:
    async with ScriptedServer(plain(json.dumps(BODIES["transcription"]))) as server:
        params = transcription.Params(seconds=0.5, language="en")
        await transcription.run(target(server.url), spec("transcription", params), doors(api))
    (request,) = server.requests
    assert request.path == "/v1/audio/transcriptions"
    assert b'name="language"\r\n\r\nen' in request.body
    sound = request.body[request.body.index(b"RIFF") :]
    with wave.open(BytesIO(sound)) as file:
        assert (file.getframerate(), file.getnframes(), file.getnchannels()) == (16_000, 8_000, 1)


async def test_an_embeddings_request_as_the_server_saw_it(api: Api) -> None:
    async with ScriptedServer(plain(json.dumps({"data": [VECTOR, VECTOR]}))) as server:
        params = embeddings.Params(input=("a", "b"), dimensions=3, extra_body={"truncate": True})
        result = await embeddings.run(target(server.url), spec("embeddings", params), doors(api))
    (request,) = server.requests
    assert result.outcome is Outcome.OK, result.detail
    assert request.path == "/v1/embeddings"
    assert request.json == {
        "model": "m",
        "input": ["a", "b"],
        "encoding_format": "float",
        "dimensions": 3,
        "truncate": True,
    }


BAD = [
    ("embeddings", {"input": ""}, "at least 1"),
    ("embeddings", {"extra_body": {"input": "x"}}, "may not hold input"),
    ("rerank", {"documents": ["one"]}, "at least 2"),
    ("rerank", {"expect_first": 2}, "counts from 0"),
    ("rerank", {"extra_body": {"query": "x"}}, "may not hold query"),
    ("transcription", {"seconds": 0}, "greater than or equal"),
    ("transcription", {"language": "english"}, "match"),
    ("http", {"path": "no-slash"}, "match"),
    ("http", {"path": "/a b"}, "match"),
    ("http", {"body": "x"}, "method: POST"),
    ("http", {"headers": {"Host": "x"}}, "set by the exporter"),
    ("http", {"headers": {"Upgrade": "x"}}, "set by the exporter"),
    ("http", {"headers": {"a b": "x"}}, "name of an HTTP header"),
    ("http", {"headers": {"X": "a\r\nB: c"}}, "printable texts"),
    ("http", {"headers": {"Authorization": "Bearer x"}}, "headers of the target"),
    ("http", {"regex": "("}, "regex cannot be read"),
    ("http", {"values": [{"path": "a[x]"}]}, "such as outputs"),
    ("http", {"status": [404]}, "less than or equal to 299"),
]


@pytest.mark.parametrize(("kind", "params", "says"), BAD, ids=[f"{row[0]} {row[1]}" for row in BAD])
def test_bad_params_are_refused(kind: str, params: dict, says: str) -> None:
    model: type[BaseModel] = KINDS[kind].params
    with pytest.raises(ValidationError, match=says):
        model.model_validate(params)
