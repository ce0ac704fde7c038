"""``make interop``: install the foreign servers, run the exporter against them, and check its numbers."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

import yaml

from benchmarks.interop import report
from benchmarks.interop.servers import (
    Server,
    free_port,
    litellm_proxy,
    litserve,
    running,
    transformers_serve,
)

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def environment(folder: Path) -> Path:
    """Install the servers into a virtual environment of their own and return its bin folder."""
    stamp = folder / "installed"
    wanted = (HERE / "requirements.txt").read_text()
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
        constraints = ["--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([*pip, *constraints, "--requirement", str(HERE / "requirements.txt")], check=True)
        stamp.write_text(wanted)
    return folder / "bin"


def key_variable(server: Server) -> str:
    return f"INTEROP_{server.name.upper().replace('-', '_')}_KEY"


def configuration(servers: list[Server], listen: str) -> str:
    """Every server gets probes of each kind that it answers."""
    targets = []
    for server in servers:
        target: dict[str, object] = {"name": server.name, "base_url": server.base_url, "model": server.model}
        if server.key is not None:
            target["api_key_env"] = key_variable(server)
        target["probes"] = list(server.probes)
        targets.append(target)
    document = {"defaults": {"every": "2s", "timeout": "20s"}, "targets": targets, "web": {"listen": listen}}
    return yaml.safe_dump(document, sort_keys=False)


def scrape_after(config: Path, listen: str, seconds: float, keys: dict[str, str]) -> str:
    """Run the exporter as a user would and return its exposition after so many seconds."""
    command = [sys.executable, "-m", "exporter", "run", "--config", str(config)]
    service = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **keys})
    try:
        time.sleep(seconds)
        with urllib.request.urlopen(f"http://{listen}/metrics", timeout=10) as answer:
            text: str = answer.read().decode()
            return text
    finally:
        service.terminate()
        service.wait(30)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--venv", type=Path, default=ROOT / ".venv-interop", help="where the servers are installed"
    )
    parser.add_argument("--seconds", type=float, default=30.0)
    arguments = parser.parse_args()
    bin_dir = environment(arguments.venv)
    with tempfile.TemporaryDirectory() as work, ExitStack() as stack:
        work_dir = Path(work)
        model_dir = work_dir / "tiny"
        subprocess.run([str(bin_dir / "python"), str(HERE / "tiny_model.py"), str(model_dir)], check=True)
        toy = litserve(bin_dir)
        mock, gateway = litellm_proxy(bin_dir, work_dir, toy)
        processes = [transformers_serve(bin_dir, model_dir), toy, mock]
        for server in processes:
            stack.enter_context(running(server, work_dir))
        servers = [*processes, gateway]
        listen = f"127.0.0.1:{free_port()}"
        config = work_dir / "interop.yml"
        config.write_text(configuration(servers, listen))
        keys = {key_variable(server): server.key for server in servers if server.key is not None}
        exposition = scrape_after(config, listen, arguments.seconds, keys)
    figures = report.figures(exposition)
    print(f"Load average {os.getloadavg()[0]:.1f}; {arguments.seconds:.0f} s, a probe every 2 s.\n")
    print(report.table(figures))
    problems = report.problems(figures)
    for problem in problems:
        print("NOT SANE:", problem)
    return 1 if problems or len(figures) != sum(len(server.probes) for server in servers) else 0


if __name__ == "__main__":
    sys.exit(main())
