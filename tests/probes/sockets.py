"""Scripts, and a probe through the door, for tests over sockets."""

import json

from exporter.model.results import ProbeResult
from exporter.probes.base import Api
from exporter.probes.chat import Params, run
from tests.fakes.scripted_server import (
    ScriptedServer,
    Step,
    streaming,
)
from tests.model.streams import DONE, counts, event, role, stop, text, usage_event
from tests.probes.specs import doors, spec, target

KEY = "sk-proj-Zx81VerySecret"
JSON_TYPE = "application/json"
TOKENS = [(0.05, text())] + [(0.02, text())] * 3
FINISH = [(0.0, stop()), (0.0, usage_event(4)), (0.0, DONE)]
GOOD = streaming((0.0, role()), *TOKENS, *FINISH)
ERROR = event(error={"message": f"bad key {KEY}", "code": "model_overloaded"})
WHOLE = json.dumps(
    {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"content": "hi"}, "finish_reason": "stop"}],
        "usage": counts(2),
    }
)
NO_STREAM = {"params": Params(stream=False)}
SOON = {"timeout_s": 0.6, "stall_timeout_s": 0.3}


async def probe(api: Api, url: str, **more: object) -> ProbeResult:
    about = {key: more.pop(key) for key in ("key", "tls") if key in more}
    return await run(target(url, **about), spec(**more), doors(api))


async def probe_script(api: Api, script: list[Step], **more: object) -> ProbeResult:
    async with ScriptedServer(script) as server:
        result = await probe(api, server.url, **more)
        assert len(server.requests) == 1
    return result
