"""What the tests of real harnesses share: an environment each, made once a run, and a campaign."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from warex.analysis.run.load import load_run
from warex.analysis.trial.record import TrialRecord
from warex.traces import EVENTS, Trace, read_trace

WAREX = (sys.executable, "-m", "warex.cli")

# Environments are made one at a time: each wants the machine, and the cache, to itself.
_MAKING = threading.Lock()


def made(name: str, folder: Path) -> Path:
    """Make a benchmark's environment as its user would; one that is whole is taken as it is."""
    with _MAKING:
        done = subprocess.run(
            [*WAREX, "benchmarks", "setup", name, "--dir", str(folder / name)],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    return folder / name


@dataclass(frozen=True, slots=True)
class Played:
    """A campaign that was run."""

    said: str
    trials: Mapping[str, TrialRecord]
    """By condition."""

    def trace(self, condition: str) -> Trace:
        """Return what WAREX saw of a condition's trial."""
        return read_trace(self.trials[condition].path / EVENTS)

    def folder(self, condition: str) -> Path:
        """Return where a condition's trial left its files."""
        return self.trials[condition].path


def play(folder: Path, campaign: Mapping[str, Any], **files: Any) -> Played:
    """Write a campaign with the files that it names and run it as its user would.

    ``files`` are written as YAML beside it. One task, one agent: a condition is a trial.
    """
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    (folder / "campaign.json").write_text(json.dumps(campaign))
    command = [*WAREX, "run", str(folder / "campaign.json"), "--out", str(folder / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said + _logs(folder)
    trials = load_run(folder / "run").trials
    return Played(said, {trial.key.condition: trial for trial in trials})


def _logs(folder: Path) -> str:
    logs = (folder / "run").rglob("agent.log")
    return "".join(f"\n--- {log}\n{log.read_text(errors='replace')[-3000:]}" for log in logs)


@contextmanager
def site(pages: Mapping[str, str]) -> Iterator[int]:
    """Serve a site of these pages, by path, on loopback; yield its port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0])
            body = (page or "not here").encode()
            self.send_response(404 if page is None else 200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        # Pages send nothing but their wish.
        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def own_authority(folder: Path) -> None:
    """Have this run make a certificate authority of its own."""
    os.environ["WAREX_CA_DIR"] = str(folder / "ca")
