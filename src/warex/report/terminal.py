"""Tables for the terminal."""

from dataclasses import dataclass

from rich import box
from rich.console import (
    Console,
    ConsoleOptions,
    Group,
    JustifyMethod,
    RenderableType,
    RenderResult,
)
from rich.table import Table as Grid
from rich.text import Text

from warex.analysis.inspect import Inspection
from warex.analysis.run import Run
from warex.analysis.table import Row, Table, tabulate
from warex.analysis.trial import TrialRecord
from warex.report.columns import RowColumn, columns
from warex.report.figures import UNKNOWN, usd
from warex.report.headline import opening
from warex.report.notes import footnotes, instrument, left_out
from warex.report.timeline import Timeline
from warex.traces.outcome import Counted, Unscored, Void

# Cost never stands without success beside it.
_PARTS = (
    ("condition", "n", "success", "Δ clean", "adj. p", "RR", "RR per injection"),
    ("condition", "success", "latency", "LLM calls", "steps", "tokens in", "tokens out", "cost"),
    ("condition", "exposure", "planned", "delivered", "missed", "reloads", "voids"),
)


def render_table(run: Run, table: Table | None = None) -> RenderableType:
    """Return the campaign's table: the verdict, a block for each agent, footnotes."""
    table = table or tabulate(run)
    parts: list[RenderableType] = [Text(line, style="bold") for line in opening(run, table)[0]]
    parts += [Text(), *(Text(line) for line in instrument(table))]
    for agent in run.agents:
        parts += [Text(), _Block(agent, table.of(agent))]
    notes = (*footnotes(run, table), *left_out(table))
    if notes:
        parts += [Text(), *(Text(f"* {line}", style="dim") for line in notes)]
    return Group(*parts)


@dataclass(frozen=True, slots=True)
class _Block:
    """One agent's rows, in parts that fit 80 columns, so that no figure is cut short."""

    agent: str
    rows: tuple[Row, ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(f"{self.agent}\n", style="bold")
        for titles in _PARTS:
            yield self._grid(columns(*titles))
            yield Text()

    def _grid(self, shown: tuple[RowColumn, ...]) -> Grid:
        grid = Grid(box=box.SIMPLE_HEAD, padding=0, show_edge=False, pad_edge=False)
        for column in shown:
            justify: JustifyMethod = "left" if column.is_text else "right"
            # Names that share their beginning must not be cut to the same.
            grid.add_column(column.title.replace(" ", "\n"), justify=justify, overflow="fold")
        for row in self.rows:
            grid.add_row(*(Text(_short(column, row, shown)) for column in shown))
        return grid


def _short(column: RowColumn, row: Row, shown: tuple[RowColumn, ...]) -> str:
    """Return a cell; success beside effort goes without its interval, which stands above."""
    words = column.fill(row).text
    return words if columns("n")[0] in shown else words.partition(" [")[0]


def render_inspect(inspection: Inspection) -> RenderableType:
    """Return a trial's story: outcome, money, injections with recovery evidence, timeline.

    Numbers in square brackets are ``seq`` in the trial's events.jsonl.
    """
    trial = inspection.trial
    return Group(
        _head(inspection),
        Text(),
        *_money(trial),
        Text(),
        *_faults(trial),
        Text(),
        Text("Timeline", style="bold"),
        Timeline(inspection.moments),
    )


def _head(inspection: Inspection) -> RenderableType:
    trial = inspection.trial
    grid = Grid.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    key = trial.key
    what = [key.benchmark, key.agent, key.condition, key.task, f"repeat {key.repeat}"]
    grid.add_row("trial", Text(" / ".join(part for part in what if part)))
    grid.add_row("attempt", f"{trial.attempt}, seed {_known(trial.seed)}")
    grid.add_row("scenario", Text(inspection.scenario or "none"))
    grid.add_row("outcome", Text(describe_outcome(trial), style="bold"))
    for reason in trial.outcome.reasons if isinstance(trial.outcome, Counted) else ():
        grid.add_row("", Text(reason))
    canary = {True: "came through", False: "did not come through", None: "not tried"}
    grid.add_row("canary", canary[trial.canary])
    grid.add_row("exchanges", str(inspection.exchanges))
    for reason in trial.harness_broke:
        grid.add_row("harness broke", Text(reason, style="bold red"))
    if trial.cut:
        grid.add_row("trace", Text(trial.cut, style="yellow"))
    grid.add_row("folder", Text(str(trial.path)))
    return grid


def describe_outcome(trial: TrialRecord) -> str:
    """Say in words how a trial came out."""
    match trial.outcome:
        case Counted() as counted:
            word = "success" if trial.solved else "failure"
            return f"{word}: score {counted.score:g}, {counted.ending}, {counted.latency_s:.1f} s"
        case Unscored() as unscored:
            return ": ".join(filter(None, ("unscored", unscored.told)))
        case Void() as void:
            return f"void: {void.reason}"
        case None:
            return "not finished"


def _money(trial: TrialRecord) -> list[RenderableType]:
    if trial.llm is None:
        return [Text("LLM calls", style="bold"), Text(f"{UNKNOWN} (nobody watched them)")]
    llm = trial.llm
    put = f", {llm.cache_write_tokens:,} put into the cache" if llm.cache_write_tokens else ""
    head = (
        f"{len(llm.calls)} calls in {llm.steps} steps, {llm.input_tokens:,} tokens in"
        f" ({llm.cached_tokens:,} cached{put}), {llm.output_tokens:,} out"
        f" ({llm.reasoning_tokens:,} reasoning), {usd(llm.usd)}"
    )
    grid = Grid.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(overflow="fold")
    for call in llm.calls:
        words = f"{call.arithmetic} ({call.usage})"
        grid.add_row(f"[{call.seq}]", Text(f"step {call.step} {call.model}"), Text(words))
    return [Text("LLM calls", style="bold"), Text(head), grid]


def _faults(trial: TrialRecord) -> list[RenderableType]:
    if not trial.injections:
        alone = [Text(f"{count} not eligible: {reason}") for reason, count in trial.left_alone]
        return [Text("Faults", style="bold"), Text("none planned"), *alone]
    evidence = {recovery.fault_seq: recovery for recovery in trial.recoveries}
    grid = Grid.grid(padding=(0, 2))
    for _ in range(3):
        grid.add_column(overflow="fold")
    for i in trial.injections:
        where = f"[{i.planned_seq}] → {i.fate}"
        fate = where + (f" [{i.fate_seq}]" if i.fate_seq is not None else "")
        waited = f"held {i.waited_s:.2f} s" + (f", {i.reason}" if i.reason else "")
        grid.add_row(Text(i.id), Text(f"{fate} {waited}"), Text(f"{i.kind} on {i.url}"))
        if found := evidence.get(i.fate_seq or -1):
            seqs = [
                f"{n} [{s}]"
                for n, s in (("LLM call", found.call_seq), ("request", found.request_seq))
                if s is not None
            ]
            spent = ""
            if found.seconds is not None:
                steps = f"{found.steps} step{'' if found.steps == 1 else 's'}"
                spent = f" It took {found.seconds:.1f} s, {steps}, {found.tokens:,} tokens."
            proof = f" ({', '.join(seqs)})" if seqs else ""
            grid.add_row(
                "",
                Text(found.verdict.replace("_", " "), style="bold"),
                Text(f"{found.why}{proof}{spent}"),
            )
            if found.disagreement:
                grid.add_row("", Text("disagreement"), Text(found.disagreement))
    alone = [Text(f"{count} not eligible: {reason}") for reason, count in trial.left_alone]
    return [Text("Faults", style="bold"), grid, *alone]


def _known(value: object) -> str:
    return UNKNOWN if value is None else str(value)
