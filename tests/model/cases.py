"""One settled case of the verdict, and short ways to write what came."""

from dataclasses import dataclass

from exporter.model.outcome import Outcome
from exporter.model.transcript import Fault, Transcript
from tests.model.streams import answered, counts, event, piece, texts

KEY = "sk-proj-Zx81VerySecret"
PROMPT = "the secret recipe"
ERROR = {"message": f"Incorrect API key provided: {KEY}; you said {PROMPT}", "code": "model_overloaded"}
FEW = texts(300, 20, 4)


@dataclass(frozen=True, kw_only=True)
class Case:
    says: str
    came: Transcript
    is_: Outcome
    stream: bool = True
    detail: str | None = None
    stall_s: float = 15.0


def late(*pieces: object, closed_ms: float = 30_000, **more: object) -> Transcript:
    return answered(*pieces, fault=Fault.DEADLINE, closed_ms=closed_ms, **more)


def nothing(fault: Fault | None, **more: object) -> Transcript:
    return answered(status=None, content_type=None, fault=fault, **more)


def status(code: int, body: str = "", content_type: str = "application/json", **more: object) -> Transcript:
    return answered(*([piece(5, body)] if body else []), status=code, content_type=content_type, **more)


def json_body(*parts: str, **more: object) -> Transcript:
    return answered(*(piece(700, part) for part in parts), content_type="application/json", **more)


def whole(finish: str | None = "stop", content: str = "hi") -> str:
    message = {"role": "assistant", "content": content}
    return event(choices=[{"message": message, "finish_reason": finish}], usage=counts(3))[6:]
