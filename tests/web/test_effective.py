import yaml
from pydantic import BaseModel

from exporter.model.clocks import Clock
from exporter.model.configuration import BenchPlan, Configuration, TargetPlan, WebOptions
from exporter.model.target import Connection, KeySource, ProbeSpec, Target
from exporter.web.effective import effective


class Params(BaseModel):
    prompt: str = "CONFIDENTIAL"
    max_tokens: int = 64
    stream: bool = True
    stop: list[str] = ["CONFIDENTIAL"]
    extra_headers: dict[str, str] = {"X-Api-Key": "CONFIDENTIAL"}


CONFIGURATION = Configuration(
    targets=(
        TargetPlan(
            target=Target(
                name="prod",
                base_url="https://me:CONFIDENTIAL@api.example.com/v1?api-version=CONFIDENTIAL#CONFIDENTIAL",
                model="org/model",
                key=KeySource(env="PROD_KEY"),
                proxy="http://CONFIDENTIAL@proxy:3128",
                labels={"site": "fra1"},
            ),
            probes=(
                ProbeSpec(
                    name="short",
                    kind="chat",
                    every_s=15.0,
                    timeout_s=30.0,
                    stall_timeout_s=15.0,
                    connection=Connection.FRESH,
                    params=Params(),
                    clocks=frozenset({Clock.TTFT, Clock.E2E}),
                ),
            ),
        ),
        TargetPlan(
            target=Target(
                name="plain", base_url="http://[::1]:8000/v1", model="m", proxy="http://[CONFIDENTIAL"
            ),
            probes=(),
        ),
    ),
    benches=(BenchPlan(suite="light", every_s=300.0),),
    web=WebOptions(host="127.0.0.1", port=9780),
)


def test_nothing_confidential_is_shown() -> None:
    assert "CONFIDENTIAL" not in effective(CONFIGURATION)


def test_everything_else_is() -> None:
    shown = yaml.safe_load(effective(CONFIGURATION))
    prod, plain = shown["targets"]
    assert prod["target"]["base_url"] == "https://hidden@api.example.com/v1?api-version=hidden"
    assert prod["target"]["proxy"] == "http://hidden@proxy:3128"
    assert prod["target"]["key"] == {"env": "PROD_KEY", "file": None}
    assert prod["target"]["labels"] == {"site": "fra1"}
    probe = prod["probes"][0]
    assert (probe["connection"], probe["every_s"], probe["clocks"]) == ("fresh", 15.0, ["e2e", "ttft"])
    assert probe["params"] == {
        "prompt": "hidden, 12 characters",
        "max_tokens": 64,
        "stream": True,
        "stop": ["hidden, 12 characters"],
        "extra_headers": {"X-Api-Key": "hidden, 12 characters"},
    }
    assert plain["target"]["base_url"] == "http://[::1]:8000/v1"
    assert plain["target"]["proxy"] == "hidden"
    assert shown["benches"] == [
        {
            "suite": "light",
            "every_s": 300.0,
            "devices": [],
            "threads": 1,
            "quiet": [],
            "peaks": {},
            "state": None,
        }
    ]
    assert shown["web"] == {"host": "127.0.0.1", "port": 9780}
