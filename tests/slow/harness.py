"""Shared code for tests of real harnesses: environments, created once per run, and campaigns."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.http_server import Handler, serving
from warex.analysis.run.load import load_run
from warex.analysis.trial.record import TrialRecord
from warex.traces import EVENTS, Trace, read_trace

WAREX = (sys.executable, "-m", "warex.cli")


def made(name: str, folder: Path) -> Path:
    """Create a benchmark's environment as its user would, unless it exists already; return it."""
    # Another process of this run may want the same one.
    with (folder / f"{name}.lock").open("w") as making:
        fcntl.flock(making, fcntl.LOCK_EX)
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
    """A finished campaign."""

    output: str
    trials: Mapping[str, TrialRecord]
    """By condition."""

    def trace(self, condition: str) -> Trace:
        """Return the trace of a condition's trial."""
        return read_trace(self.trials[condition].path / EVENTS)

    def folder(self, condition: str) -> Path:
        """Return the folder of a condition's trial."""
        return self.trials[condition].path


def play(folder: Path, campaign: Mapping[str, Any], **files: Any) -> Played:
    """Write a campaign with the files that it names and run it as its user would.

    ``files`` are written as YAML next to it. With one task and one agent, a condition is a trial.
    """
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    (folder / "campaign.json").write_text(json.dumps(campaign))
    command = [*WAREX, "run", str(folder / "campaign.json"), "--out", str(folder / "run")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output + _logs(folder)
    trials = load_run(folder / "run").trials
    return Played(output, {trial.key.condition: trial for trial in trials})


def _logs(folder: Path) -> str:
    logs = (folder / "run").rglob("agent.log")
    return "".join(f"\n--- {log}\n{log.read_text(errors='replace')[-3000:]}" for log in logs)


@contextmanager
def site(pages: Mapping[str, str]) -> Iterator[int]:
    """Serve a site of these pages, by path, on loopback; yield its port."""

    class Pages(Handler):
        def do_GET(self) -> None:
            page = pages.get(self.path.partition("?")[0])
            status = 404 if page is None else 200
            self.reply((page or "not here").encode(), "text/html; charset=utf-8", status)

        do_POST = do_GET

    with serving(Pages) as port:
        yield port


def own_authority(folder: Path) -> None:
    """Make WAREX create a new certificate authority for this run."""
    os.environ["WAREX_CA_DIR"] = str(folder / "ca")
