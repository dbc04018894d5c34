"""The sentences a table must not stand without."""

from pathlib import Path

from warex.analysis.run import Run
from warex.analysis.summary import priced_as_if
from warex.analysis.table import Table
from warex.report.figures import delta, rate


def warnings(table: Table) -> tuple[str, ...]:
    """Return what heads a report: reasons to read the figures with care."""
    return tuple(
        f"{row.agent}, {row.condition}: a fault reached only {rate(row.exposure)} trials, so this"
        " condition hardly measures it."
        for row in table.underexposed
    )


def opening(table: Table) -> tuple[str, ...]:
    """Return what the proxy alone does, before any fault is spoken of."""
    return tuple(
        f"Proxy effect on {agent} (clean minus no-proxy): {delta(effect)} points over"
        f" {_count(effect.pairs, 'pair')}."
        for agent, effect in table.proxy_effect
    )


def footnotes(run: Run, table: Table) -> tuple[str, ...]:
    """Return what was left out or assumed, one sentence each."""
    return (
        *_scripted(run),
        *_shortened(run),
        *_left_out(table),
        *_unpriced(run),
        *_estimated(run),
        *_cut(run),
        *(
            [f"{_count(table.unfinished, 'trial')} not finished, so not in the table."]
            if table.unfinished
            else []
        ),
    )


def cut_traces(run: Run) -> tuple[tuple[Path, str], ...]:
    """Return the attempts whose trace lacks its end, and how."""
    return tuple((attempt.path, attempt.cut) for attempt in run.attempts if attempt.cut)


def _scripted(run: Run) -> list[str]:
    as_if = priced_as_if(run)
    return [
        f"{model} shows the instrument, not a model; cost as if {other}."
        if model.startswith("scripted:")
        else f"{model} has no price of its own; cost as if {other}."
        for model, other in as_if.items()
    ]


def _shortened(run: Run) -> list[str]:
    longest = run.manifest.campaign.get("longest_hold_s") if run.manifest else None
    if not isinstance(longest, int | float):
        return []
    return [f"Holds shortened to {longest:g} s: no fault keeps an exchange longer than that here."]


def _left_out(table: Table) -> list[str]:
    return [
        f"{agent}: {pair[1]} (repeat {pair[2]}) stayed void, so it is left out of every condition."
        for agent, pair in table.left_out
    ]


def _unpriced(run: Run) -> list[str]:
    models = {model for trial in run.trials if trial.llm for model in trial.llm.unpriced}
    return [f"No price is known for {model}: its cost is left open." for model in sorted(models)]


def _estimated(run: Run) -> list[str]:
    uncertain = sum(trial.llm.uncertain for trial in run.trials if trial.llm)
    if not uncertain:
        return []
    return [f"The tokens of {_count(uncertain, 'LLM call')} are estimated or partial."]


def _cut(run: Run) -> list[str]:
    cut = len(cut_traces(run))
    return (
        [f"{_count(cut, 'trace')} without an end: figures cover what was written."] if cut else []
    )


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
