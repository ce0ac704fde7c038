"""A worker that speaks the protocol and has whatever character the environment gives it."""

import os
import sys
import time
from pathlib import Path

from exporter.workers.channel import Channel, die_with_parent


def found(device, name, **changes):
    plain = {"driver": "", "runtime": "", "power_limit_w": None, "governor": "", "virtual": False}
    return {"device": device, "name": name, **plain, "partition": False, "other_processes": None} | changes


ENVIRONMENT = {
    "torch_version": "9.9",
    "threads": 1,
    "devices": [found("cpu", "Fake"), found("cuda:0", "NVIDIA H200", other_processes=0)],
}
CALM = {"window_s": 1.0, "cores": 2, "foreign_cpu_s": 0.0, "throttled": [], "other_processes": None}


def measurement(question, **changes):
    n, on_cpu = question["case"]["repeats"], question["device"] == "cpu"
    body = {
        "backend": "flash",
        "relative_error": 1e-7,
        "correct": True,
        "clock": "process_cpu" if on_cpu else "device_events",
        "wall_s": [0.02] * n,
        "cpu_s": [0.01] * n,
        "device_s": [] if on_cpu else [0.001] * n,
        "preemptions": [],
        "graphed": False,
    }
    return body | changes


def seen(variant, body, verdict="ok", detail=""):
    return {"variant": variant, "verdict": verdict, "detail": detail, "measurement": body}


def group(question, of_sdpa=None, conditions=CALM):
    """Every variant is measured well, but for sdpa, if there is something else to say of it."""
    well = [seen(variant, measurement(question)) for variant in question["variants"]]
    answers = [of_sdpa if of_sdpa and item["variant"] == "sdpa" else item for item in well]
    return "group", {"seen": answers, "conditions": conditions}


def of_sdpa(question):
    """What each character that answers at all says of the sdpa variant."""
    untimed = {"correct": False, "wall_s": [], "cpu_s": [], "device_s": []}
    return {
        "incorrect": seen("sdpa", measurement(question, relative_error=0.5, **untimed), "incorrect"),
        "not finite": seen("sdpa", measurement(question, relative_error=None, **untimed), "incorrect"),
        "lazy": seen("sdpa", measurement(question, cpu_s=[0.01])),
        "impossible": seen("sdpa", measurement(question, cpu_s=[0.0] * question["case"]["repeats"])),
        "out of memory": seen("sdpa", None, "out_of_memory", "CUDA out of memory"),
        "costly": seen("sdpa", None, "predicted_cost", "18 s a call"),
        "self-satisfied": seen("sdpa", None),
    }.get(os.environ["CHARACTER"])


def whole_answers(question):
    """What each character that says something else altogether answers."""
    slow = measurement(question, cpu_s=[0.1] * question["case"]["repeats"])
    return {
        "contended": lambda: group(question, conditions=CALM | {"foreign_cpu_s": 1.0}),
        "slow": lambda: group(question, seen("sdpa", slow)),
        "forgetful": lambda: ("unsupported", {"detail": "torch has gone"}),
        "confused": lambda: ("environment", ENVIRONMENT),
        "creative": lambda: ("group", {"mood": "good"}),
        "absent-minded": lambda: ("group", {"seen": [], "conditions": CALM}),
    }


def on_measure(question):
    if "sdpa" not in question["variants"]:
        return group(question)
    character = os.environ["CHARACTER"]
    if character == "crashing":
        os.abort()
    if character == "hanging":
        time.sleep(600)
    if character == "chatty":
        os.write(int(os.environ["ANSWERS"]), b"loading kernels...\n")
    otherwise = whole_answers(question).get(character)
    return otherwise() if otherwise else group(question, of_sdpa(question))


def on_describe():
    match os.environ["CHARACTER"]:
        case "stillborn":
            sys.stderr.write("Illegal instruction in libtorch\n")
            os.abort()
        case "torchless":
            return "unsupported", {"detail": "torch is not installed"}
        case "driverless":
            return "failed", {"verdict": "error", "detail": "RuntimeError: driver too old"}
        case "shared":
            devices = [ENVIRONMENT["devices"][0], found("cuda:0", "NVIDIA H200", other_processes=2)]
            return "environment", ENVIRONMENT | {"devices": devices}
    return "environment", ENVIRONMENT


def on_sustain(question):
    """A thousand calls a second, from a moment that the test knows."""
    begin, seconds = float(os.environ["BEGIN"]), question["seconds"]
    marks = [{"monotonic_s": begin + i / 50, "calls": 20 * i} for i in range(int(seconds * 50) + 1)]
    return "sustained", {"marks": marks}


def main():
    die_with_parent(int(sys.argv[1]))
    channel = Channel()
    os.environ["ANSWERS"] = str(channel._answers.fileno())
    with Path(os.environ["DIARY"]).open("a", encoding="utf-8") as diary:
        diary.write(f"{os.getpid()}\n")
    for question in channel.questions():
        match question["kind"]:
            case "describe":
                kind, body = on_describe()
            case "measure":
                kind, body = on_measure(question["body"])
            case "sustain":
                kind, body = on_sustain(question["body"])
        version = 99 if os.environ["CHARACTER"] == "futuristic" else 2
        channel.answer({"protocol": version, "kind": kind, "body": body})


if __name__ == "__main__":
    main()
