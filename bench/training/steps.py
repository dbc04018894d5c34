"""The steps of an experiment in its folder, each done once, by WAREX's commands."""

import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from bench.training.campaigns import Campaign

WAREX: Final = str(Path(sys.executable).with_name("warex"))
_SERVING: Final = "serving  "


def _silent(step: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Duration:
    """How long a step took."""

    seconds: float
    processor_seconds: float
    """Of its commands, with their own."""

    @classmethod
    def read(cls, mark: Path) -> "Duration":
        """Return what ``write`` wrote."""
        return cls(**json.loads(mark.read_text()))

    def write(self, mark: Path) -> None:
        """Write it as JSON."""
        mark.write_text(json.dumps(asdict(self)))


def _processor_seconds() -> float:
    """Return the processor time of all commands that have ended, and of theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclass(frozen=True, slots=True)
class Steps:
    """A folder of steps: each writes a ``.done`` file with its duration, and is then skipped.

    So an interrupted experiment can be resumed.
    """

    folder: Path
    progress: Callable[[str], None] = field(default=_silent, kw_only=True)

    @property
    def durations(self) -> Mapping[str, Duration]:
        """The duration of each finished step, in order."""
        marks = sorted(self.folder.glob("*.done"), key=lambda it: it.stat().st_mtime_ns)
        return {mark.stem: Duration.read(mark) for mark in marks}

    @contextmanager
    def step(self, name: str) -> Iterator[bool]:
        """Yield whether a step still has to run; write its ``.done`` file if it succeeds."""
        mark = self.folder / f"{name}.done"
        if mark.exists():
            yield False
            return
        self.progress(name)
        began, used = time.monotonic(), _processor_seconds()
        yield True
        Duration(time.monotonic() - began, _processor_seconds() - used).write(mark)

    def campaign(self, campaign: Campaign) -> None:
        """Run a campaign as a step."""
        with self.step(f"campaign-{campaign.name}") as new:
            if new:
                self.run_campaign(campaign)

    def run_campaign(self, campaign: Campaign) -> None:
        """Run a campaign, or the rest of it."""
        file, run = campaign.write(self.folder / "campaigns"), self.path(f"run-{campaign.name}")
        self.warex("run", str(file), "--out", run, *(["--resume"] if Path(run).exists() else []))

    def run_served_campaign(self, campaign: Campaign) -> None:
        """Run a campaign with a served model, from its beginning: the model has a new port."""
        shutil.rmtree(self.path(f"run-{campaign.name}"), ignore_errors=True)
        self.run_campaign(campaign)

    def warex(self, *arguments: str) -> None:
        """Run a command of WAREX, with its output in ``log``. Raises CalledProcessError."""
        with (self.folder / "log").open("a") as log:
            log.write(f"\n$ warex {' '.join(arguments)}\n")
            log.flush()
            subprocess.run([WAREX, *arguments], stdout=log, stderr=subprocess.STDOUT, check=True)

    @contextmanager
    def served(self, name: str, *options: str) -> Iterator[str]:
        """Serve a model by ``warex serve``; yield the URL. Raises CalledProcessError."""
        command = [WAREX, "serve", "--port", "0", *options]
        with (self.folder / f"serve-{name}.log").open("w") as log:
            server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            if not line.startswith(_SERVING):
                raise subprocess.CalledProcessError(server.wait(), command)
            yield line.removeprefix(_SERVING).split()[0]
        finally:
            server.terminate()
            server.wait()

    def path(self, name: str) -> str:
        """Return the path of a file or folder of the experiment."""
        return str(self.folder / name)
