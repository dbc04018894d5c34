"""`warex export RUN...`: write a training data set from runs, or runs for other tools."""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from click.core import ParameterSource

from warex.cli.options.parameters import PATH, Parsed
from warex.cli.output import echo, warn
from warex.errors import InputError, TraceError
from warex.exports.names import (
    DIMENSIONS,
    FORMATS,
    KINDS,
    LEAKS,
    RUN_FORMAT_PLUGINS,
    RUN_FORMATS,
    THOUGHTS,
    Dimension,
    Kind,
    Leak,
    Side,
    Thoughts,
)
from warex.text.english import count_noun

if TYPE_CHECKING:
    from warex.analysis.run.load import Run
    from warex.exports.answers.oracle import Oracle

_OF_RUNS: Final = frozenset(("runs", "kind", "out", "otlp", "agents", "conditions"))
"""Parameters that formats of whole runs have."""


_ALL_RUN_FORMATS: Final = {
    **RUN_FORMATS,
    **{it: f"of the package {RUN_FORMAT_PLUGINS.owner(it)}" for it in RUN_FORMAT_PLUGINS.names()},
}


def _listed(formats: Mapping[str, str]) -> str:
    return "; ".join(f"{name}: {about}" for name, about in formats.items())


def _read_address(text: str) -> str:
    from warex.exports.interchange.otlp_http import read_address

    return read_address(text)


def _read_shares(text: str) -> tuple[int, int, int]:
    match = re.fullmatch(r"(\d{1,4}):(\d{1,4}):(\d{1,4})", text)
    if match is None or not int(match[1]):
        raise ValueError(f"{text!r} is not TRAIN:VALIDATION:TEST, such as 9:1:1")
    return int(match[1]), int(match[2]), int(match[3])


@click.command("export")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=PATH)
@click.option(
    "--to",
    "kind",
    type=click.Choice((*FORMATS, *_ALL_RUN_FORMATS)),
    default="sft",
    help=f"Data sets: {_listed(FORMATS)}. Whole runs: {_listed(_ALL_RUN_FORMATS)}.",
)
@click.option("-o", "--out", type=PATH, metavar="DIR", help="A new folder.")
@click.option(
    "--otlp",
    type=Parsed(_read_address),
    metavar="URL",
    help="With --to otel: send the traces to this receiver (OTLP over HTTP), not to DIR.",
)
@click.option(
    "--relabel",
    is_flag=True,
    help="Include steps without recovery, with the answer that reloads the page.",
)
@click.option(
    "--oracle",
    is_flag=True,
    help="Relabel the agents' wrong steps as the tasks' oracles act in the same state; implies"
    " --relabel.",
)
@click.option(
    "--split",
    "by",
    multiple=True,
    type=click.Choice((*DIMENSIONS, "none")),
    help="What is held out; group: kind of site. [default: site, page_family;"
    " with --only clean: site]",
)
@click.option(
    "--shares",
    type=Parsed(_read_shares),
    default="9:1:1",
    metavar="TRAIN:VALIDATION:TEST",
    help="Names on each side of the split.",
)
@click.option(
    "--test",
    multiple=True,
    metavar="DIMENSION=NAME",
    help="Hold out for the test, such as site=market.*; train on the rest.",
)
@click.option(
    "--validation", multiple=True, metavar="DIMENSION=NAME", help="Hold out for validation."
)
@click.option(
    "--allow-leak",
    "allowed",
    multiple=True,
    type=click.Choice(LEAKS),
    help="Accept this on two sides of the split.",
)
@click.option(
    "--clean-per-failure",
    "ratio",
    type=click.FloatRange(0, 1000, min_open=True),
    default=1.0,
    help="Clean examples per failure.",
)
@click.option("--all", "unbalanced", is_flag=True, help="Keep all examples of both kinds.")
@click.option(
    "--most",
    type=click.IntRange(1),
    metavar="N",
    help="Train on at most N failures; with --all or --only, take at most N rows per kind.",
)
@click.option("--only", type=click.Choice(KINDS), help="Take one kind only.")
@click.option("--agent", "agents", multiple=True, metavar="NAME", help="Only this agent's.")
@click.option(
    "--condition", "conditions", multiple=True, metavar="NAME", help="Only this condition's."
)
@click.option(
    "--group",
    default=None,
    metavar="REGEX",
    help="Regular expression whose first group is the kind of site in a task's name. [default:"
    " ([A-Za-z]+)[-_./]]",
)
@click.option(
    "--largest",
    type=click.IntRange(1000),
    default=32_000,
    help="Cut the last elements of a page whose prompt has more characters than this.",
)
@click.option(
    "--thoughts",
    type=click.Choice(THOUGHTS),
    default="auto",
    help="The agent's words beside its actions, also of earlier steps; auto: drop those of scripted"
    " agents, and all with --oracle.",
)
@click.option("--no-images", is_flag=True, help="Omit screenshots.")
@click.option(
    "--mask",
    is_flag=True,
    help="Mask e-mail addresses, phone, card and account numbers; omit screenshots.",
)
@click.option(
    "--license",
    default="",
    show_default=False,
    metavar="NAME",
    help="License for the data card, such as cc-by-4.0.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, help="Seed of the split and of the choice of rows."
)
def command(
    runs: tuple[Path, ...],
    kind: str,
    out: Path | None,
    otlp: str | None,
    relabel: bool,
    oracle: bool,
    by: tuple[str, ...],
    shares: tuple[int, int, int],
    test: tuple[str, ...],
    validation: tuple[str, ...],
    allowed: tuple[Leak, ...],
    ratio: float,
    unbalanced: bool,
    most: int | None,
    only: Kind | None,
    agents: tuple[str, ...],
    conditions: tuple[str, ...],
    group: str | None,
    largest: int,
    thoughts: Thoughts,
    no_images: bool,
    mask: bool,
    license: str,
    seed: int,
) -> None:
    """Write a data set for training from runs, or the runs in a format of other tools.

    Failure examples are the steps by which an agent recovered from a delivered fault; clean ones
    are other steps of solved trials. Nothing may be on two sides of the split.

    With a format of whole runs only --agent and --condition apply. With --to har, RUN may be a
    trial and DIR a file, x.har.
    """
    if otlp is not None and kind != "otel":
        raise InputError(f"--otlp goes with --to otel, not with --to {kind}")
    if otlp is not None and out is not None:
        raise InputError("--otlp and --out are two places for the traces; give one of them")
    if out is None:
        if otlp is None:
            raise click.UsageError("Missing option '--out'.")
        out = Path(otlp)
    if kind in _ALL_RUN_FORMATS:
        from warex.exports.run_formats import RunExport, export_runs

        _require_no_dataset_options(click.get_current_context(), kind)
        damaged = _Damaged()
        for line in export_runs(RunExport(kind, runs, out, agents, conditions, otlp, damaged)):
            echo(line)
        damaged.check()
        return

    from importlib.metadata import version

    from warex.analysis.run.load import load_run
    from warex.exports.build import DatasetRequest, build
    from warex.exports.card import card
    from warex.exports.dataset import require_empty_folder, require_parquet, write_dataset
    from warex.exports.examples import KIND_OF_SITE, SelectionOptions
    from warex.exports.splits import SplitPlan

    by_side: dict[Side, dict[Dimension, tuple[str, ...]]] = {
        "test": _held_out("--test", test),
        "validation": _held_out("--validation", validation),
    }
    dimensions = _dimensions(by, by_side, only)
    pattern = KIND_OF_SITE if group is None else _pattern(group)
    require_empty_folder(out)
    require_parquet(kind)
    damaged = _Damaged()
    loaded = [load_run(run, on_damage=damaged) for run in runs]
    request = DatasetRequest(
        format=kind,
        choice=SelectionOptions(
            relabel=relabel,
            largest=largest,
            images=not (no_images or mask),
            group=pattern,
            thoughts=thoughts,
            oracle=_oracle(loaded) if oracle else None,
        ),
        plan=SplitPlan(dimensions, shares, by_side, seed) if dimensions else None,
        clean_per_failure=None if unbalanced or only else ratio,
        most=most,
        mask=mask,
        only=only,
        allowed_leaks=allowed,
        agents=agents,
        conditions=conditions,
        seed=seed,
        facts={
            "license": license,
            "warex": version("warex"),
            "made_by": shlex.join(click.get_current_context().obj or ()),
        },
    )
    manifest = write_dataset(out, build(loaded, request), card)
    for split, facts in manifest.splits.items():
        counts = f"{facts.failure} failure, {facts.clean} clean"
        if facts.relabelled:
            counts += f", {facts.relabelled} relabelled"
        sites = f"; {count_noun(len(facts.sites), 'site')}" if facts.sites else ""
        echo(f"{split:10} {count_noun(facts.examples, 'example')}: {counts}{sites}")
    for why, number in manifest.left_out.items():
        echo(f"left out   {number:,}: {why}")
    for rule in manifest.separability[:1]:
        echo(
            f"separable  {rule.balanced_accuracy:.0%} by the {rule.rule} (of other"
            f" {rule.held_out}s; 50% is chance)"
        )
    for text in manifest.warnings:
        echo(f"warning    {text}")
    if damaged.number:
        echo(f"left out   {damaged.number:,}: damaged")
    echo(f"data set   {out}")
    damaged.check()


def _oracle(runs: Sequence["Run"]) -> "Oracle":
    """Return the oracle of the runs' tasks. Raises InputError if a benchmark's tasks have none."""
    from functools import partial

    from warex.agents.scripted_model.oracle import oracle_actions
    from warex.agents.scripted_model.tasks import load
    from warex.benchmarks import Benchmark, benchmark_kind

    files: list[Path] = []
    for name in sorted({attempt.key.benchmark for run in runs for attempt in run.attempts}):
        kind = benchmark_kind(name)
        if kind.scripted_task_files is Benchmark.scripted_task_files:
            raise InputError(
                f"--oracle: the tasks of the benchmark {name!r} come without solutions; --relabel"
                " needs none"
            )
        files += kind().scripted_task_files()
    return partial(oracle_actions, load(*files))


class _Damaged:
    """The damaged trials that an export is without."""

    def __init__(self) -> None:
        self.number = 0

    def __call__(self, error: TraceError) -> None:
        """Print the error of a trial."""
        self.number += 1
        warn(error)

    def check(self) -> None:
        """Raise TraceError if there was one."""
        if self.number:
            raise TraceError(
                f"{count_noun(self.number, 'damaged trial is', 'damaged trials are')} left out;"
                " the rest is written"
            )


def _require_no_dataset_options(context: click.Context, kind: str) -> None:
    for parameter in context.command.params:
        name = parameter.name or ""
        typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if typed and name not in _OF_RUNS:
            raise InputError(
                f"{parameter.opts[0]} is for data sets, and --to {kind} writes runs as they are;"
                " only --out, --agent and --condition go with it"
            )


def _held_out(option: str, texts: tuple[str, ...]) -> dict[Dimension, tuple[str, ...]]:
    values: dict[Dimension, tuple[str, ...]] = {}
    for text in texts:
        name, mark, value = text.partition("=")
        dimension = next((one for one in DIMENSIONS if one == name), None)
        if not mark or dimension is None or not value:
            raise InputError(
                f"{option} {text}: that is not DIMENSION=NAME; dimensions are"
                f" {', '.join(DIMENSIONS)}"
            )
        values[dimension] = (*values.get(dimension, ()), *value.split(","))
    return values


def _dimensions(
    by: tuple[str, ...], by_side: dict[Side, dict[Dimension, tuple[str, ...]]], only: Kind | None
) -> tuple[Dimension, ...]:
    named = [one for one in DIMENSIONS if one in by or any(one in it for it in by_side.values())]
    if "none" in by:
        if named:
            raise InputError(f"--split none goes with no other, and {named[0]} is given")
        return ()
    # Clean steps have no error page.
    return tuple(named) or (("site",) if only == "clean" else ("site", "page_family"))


def _pattern(text: str) -> str:
    try:
        groups = re.compile(text).groups
    except re.error as error:
        raise InputError(f"--group {text!r} is not a pattern: {error}") from None
    if not groups:
        raise InputError(f"--group {text!r} has no group: put the kind in brackets")
    return text
