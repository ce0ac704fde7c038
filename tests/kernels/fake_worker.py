"""A worker that speaks the protocol and has whatever character the environment gives it."""

import os
import sys
import time
from pathlib import Path

from exporter.workers.channel import Channel, die_with_parent

ENVIRONMENT = {
    "torch_version": "9.9",
    "threads": 1,
    "devices": [{"device": "cpu", "name": "Fake"}, {"device": "cuda:0", "name": "Fake GPU"}],
}


def measurement(run, **changes):
    n = run["case"]["repeats"]
    body = {
        "backend": "flash",
        "relative_error": 1e-7,
        "correct": True,
        "wall_s": [0.02] * n,
        "cpu_s": [0.01] * n,
        "device_s": [] if run["device"] == "cpu" else [0.001] * n,
    }
    return "measurement", body | changes


def answers_to_sdpa(run):
    """What each character that answers at all answers to the sdpa variant."""
    untimed = {"correct": False, "wall_s": [], "cpu_s": [], "device_s": []}
    return {
        "incorrect": measurement(run, relative_error=0.5, **untimed),
        "not finite": measurement(run, relative_error=None, **untimed),
        "lazy": measurement(run, cpu_s=[0.01]),
        "impossible": measurement(run, cpu_s=[0.0] * run["case"]["repeats"]),
        "out of memory": ("failed", {"verdict": "out_of_memory", "detail": "CUDA out of memory"}),
        "self-satisfied": ("failed", {"verdict": "ok", "detail": "fine"}),
        "forgetful": ("unsupported", {"detail": "torch has gone"}),
        "confused": ("environment", ENVIRONMENT),
        "creative": ("measurement", {"mood": "good"}),
    }


def on_sdpa(run):
    """The naive variant is always answered well; what happens at this one is the character's."""
    match os.environ["CHARACTER"]:
        case "crashing":
            os.abort()
        case "hanging":
            time.sleep(600)
        case "chatty":
            os.write(int(os.environ["ANSWERS"]), b"loading kernels...\n")
    return answers_to_sdpa(run).get(os.environ["CHARACTER"], measurement(run))


def on_describe():
    match os.environ["CHARACTER"]:
        case "stillborn":
            sys.stderr.write("Illegal instruction in libtorch\n")
            os.abort()
        case "torchless":
            return "unsupported", {"detail": "torch is not installed"}
        case "driverless":
            return "failed", {"verdict": "error", "detail": "RuntimeError: driver too old"}
    return "environment", ENVIRONMENT


def main():
    die_with_parent(int(sys.argv[1]))
    channel = Channel()
    os.environ["ANSWERS"] = str(channel._answers.fileno())
    with Path(os.environ["DIARY"]).open("a", encoding="utf-8") as diary:
        diary.write(f"{os.getpid()}\n")
    for question in channel.questions():
        if question["kind"] == "describe":
            kind, body = on_describe()
        elif question["body"]["run"]["variant"] == "naive":
            kind, body = measurement(question["body"]["run"])
        else:
            kind, body = on_sdpa(question["body"]["run"])
        version = 99 if os.environ["CHARACTER"] == "futuristic" else 1
        channel.answer({"protocol": version, "kind": kind, "body": body})


if __name__ == "__main__":
    main()
