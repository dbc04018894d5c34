"""The sentences a table must not stand without."""

from pathlib import Path

from warex.analysis.run import Run
from warex.analysis.summary import priced_as_if
from warex.analysis.table import Table
from warex.report.figures import delta

_MOST = 20
"""Of sentences of one kind."""


def instrument(table: Table) -> tuple[str, ...]:
    """Return what the proxy alone does, and what differs by itself, before any fault."""
    return (*_proxy(table), *_noise(table))


def _proxy(table: Table) -> list[str]:
    seconds = dict(table.proxy_latency)
    lines = []
    for agent, effect in table.proxy_effect:
        line = (
            f"Proxy effect on {agent} (clean minus no-proxy): {delta(effect)} points over"
            f" {_count(effect.pairs, 'pair')}"
        )
        if (slower := seconds.get(agent)) is not None:
            span = slower.interval
            line += f", {slower.value:+.2f} s of latency"
            line += f" [{span[0]:+.2f}, {span[1]:+.2f}]" if span else ""
        lines.append(f"{line}.")
    return lines


def _noise(table: Table) -> list[str]:
    sides = {"control": "clean against its control", "repeats": "repeats of clean"}
    return [
        f"Noise floor of {agent} ({sides[floor.source]}): {delta(floor.delta)} points, and"
        f" {floor.flips} of {_count(floor.pairs, 'pair')} flip."
        for agent, floor in table.noise_floor
    ] + [
        f"Noise floor of {agent}: not known, since nothing was run twice (a control or repeats)."
        for agent, _ in table.power
        if agent not in dict(table.noise_floor)
    ]


def footnotes(run: Run, table: Table) -> tuple[str, ...]:
    """Return what was left out or assumed, one sentence each."""
    return (
        *_told(run),
        *_scripted(run),
        *_shortened(run),
        *_unpriced(run),
        *_estimated(run),
        *_replayed(table),
        *_disagreements(run),
        *_cut(run),
        *(
            [f"{_count(table.unfinished, 'trial')} not finished, so not in the table."]
            if table.unfinished
            else []
        ),
    )


def left_out(table: Table) -> tuple[str, ...]:
    """Return the pairs that no condition of their agent holds, one sentence each."""
    listed = tuple(
        f"{agent}: {pair[1]} (repeat {pair[2]}) stayed void, so it is left out of every condition."
        for agent, pair in table.left_out[:_MOST]
    )
    more = len(table.left_out) - len(listed)
    return (*listed, f"And {more} more, all in summary.json.") if more else listed


def cut_traces(run: Run) -> tuple[tuple[Path, str], ...]:
    """Return the attempts whose trace lacks its end, and how."""
    return tuple((attempt.path, attempt.cut) for attempt in run.attempts if attempt.cut)


def _told(run: Run) -> list[str]:
    notes = run.manifest.campaign.get("notes") if run.manifest else None
    return [note for note in notes if isinstance(note, str)] if isinstance(notes, list) else []


def _scripted(run: Run) -> list[str]:
    as_if = priced_as_if(run)
    return [
        f"{model} is a scripted model: it tests WAREX, not an LLM; cost as if {other}."
        if model.startswith("scripted:")
        else f"{model} has no price of its own; cost as if {other}."
        for model, other in as_if.items()
    ]


def _shortened(run: Run) -> list[str]:
    longest = run.manifest.campaign.get("longest_hold_s") if run.manifest else None
    if not isinstance(longest, int | float):
        return []
    return [f"Delays capped at {longest:g} s: no fault keeps an exchange longer than that here."]


def _unpriced(run: Run) -> list[str]:
    models = {model for trial in run.trials if trial.llm for model in trial.llm.unpriced}
    return [
        f"No price is known for {model}, so its cost is left open; the campaign's [prices] can say."
        for model in sorted(models)
    ]


def _estimated(run: Run) -> list[str]:
    uncertain = sum(trial.llm.uncertain for trial in run.trials if trial.llm)
    if not uncertain:
        return []
    return [f"The tokens of {_count(uncertain, 'LLM call')} are estimated or partial."]


def _disagreements(run: Run) -> list[str]:
    number = sum(bool(r.disagreement) for trial in run.trials for r in trial.recoveries)
    if not number:
        return []
    return [
        f"In {_count(number, 'injection')} the model's words and the network do not tell the same;"
        " the network decided. `warex inspect` says where."
    ]


def _replayed(table: Table) -> list[str]:
    calls = sum(row.replayed_calls or 0 for row in table.rows)
    were = "was" if calls == 1 else "were"
    return (
        [
            f"{_count(calls, 'LLM call')} {were} answered out of the replay cache and not paid"
            " again: a trial's cost and latency are as if the model had been asked."
        ]
        if calls
        else []
    )


def _cut(run: Run) -> list[str]:
    cut = len(cut_traces(run))
    return (
        [f"{_count(cut, 'trace')} without an end: figures cover what was written."] if cut else []
    )


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
