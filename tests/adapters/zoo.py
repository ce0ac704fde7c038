"""Children that misbehave in every way a child can; which way is the first question."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from exporter.workers.channel import die_with_parent


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def answer(**fields):
    say(json.dumps(fields))


def hang():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(600)


def hang_with_family():
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    answer(grandchild=grandchild.pid)
    time.sleep(600)


def segfault():
    os.kill(os.getpid(), signal.SIGSEGV)


def realtime_signal():
    os.kill(os.getpid(), signal.SIGRTMIN + 3)


def exit_three():
    sys.stderr.write("\nthe driver said no\n")
    os._exit(3)


def end_quietly():
    os._exit(0)


def half_a_line():
    sys.stdout.write('{"half": ')
    sys.stdout.flush()
    os._exit(0)


def flood_one_line():
    while True:
        sys.stdout.write("x" * 65536)


def flood_lines():
    while True:
        sys.stdout.write('{"more": "and more"}\n' * 1000)


def flood_stderr():
    for _ in range(300):
        sys.stderr.write("noise " * 10_000 + "\n")
    sys.stderr.flush()
    answer(still="here")


def bad_json():
    say("torch says hello")
    time.sleep(600)


def json_but_no_object():
    say("[1, 2]")
    time.sleep(600)


def nested_too_deep():
    say("[" * 200_000)
    time.sleep(600)


def close_output_and_go_on():
    os.close(1)
    time.sleep(600)


def echo():
    for line in sys.stdin:
        answer(echo=json.loads(line))


def tell():
    answer(
        environment=dict(os.environ),
        session=os.getsid(0),
        pid=os.getpid(),
        threads=len(list(Path("/proc/self/task").iterdir())),
    )
    time.sleep(600)


if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    globals()[json.loads(sys.stdin.readline())["be"]]()
