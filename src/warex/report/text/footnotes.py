"""Notes on a table: what was left out or assumed."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
from pathlib import Path

from warex.analysis.metrics.sample import price_models
from warex.analysis.run.conditions import campaign_list
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table, TabulatedRun
from warex.report.text.formatting import delta, rate_percent
from warex.text.english import count_noun

_MOST = 20
"""Maximum number of sentences of one kind."""


def baseline_notes(table: Table) -> tuple[str, ...]:
    """Return the effect of the proxy alone, and the noise floor."""
    return (*_proxy(table), *_noise(table))


def _proxy(table: Table) -> list[str]:
    seconds = dict(table.proxy_latency)
    lines = []
    for agent, effect in table.proxy_effect:
        line = (
            f"Proxy effect on {agent} (clean minus no-proxy): {delta(effect)} points over"
            f" {count_noun(effect.pairs, 'pair')}"
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
        f" {floor.flips} of {count_noun(floor.pairs, 'pair')} flip."
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
        *scripted(run),
        *_priced_as_if(run),
        *_shortened(run),
        *_unread(run),
        *_never_armed(run),
        *_unpriced(run),
        *_estimated(run),
        *_replayed(run, table),
        *_disagreements(run),
        *_cut(run),
        *_crashes(table),
        *(
            [f"{count_noun(table.unfinished, 'trial')} not finished, so not in the table."]
            if table.unfinished
            else []
        ),
    )


def excluded_pairs(table: Table) -> tuple[str, ...]:
    """Return the pairs that are left out of all conditions, one sentence each."""
    listed = tuple(
        f"{agent}: {pair[1]} (repeat {pair[2]}) stayed void, so it is left out of every condition."
        for agent, pair in table.left_out[:_MOST]
    )
    more = len(table.left_out) - len(listed)
    return (*listed, f"And {more} more, all in summary.json.") if more else listed


def cut_traces(run: Run) -> tuple[tuple[Path, str], ...]:
    """Return the attempts whose trace is truncated, and how."""
    return tuple((attempt.path, attempt.truncated) for attempt in run.attempts if attempt.truncated)


def _told(run: Run) -> list[str]:
    return [note for note in campaign_list(run.manifest, "notes") if isinstance(note, str)]


def scripted(run: Run, agents: Collection[str] | None = None) -> list[str]:
    """Say which agents, of all or of these, are scripted, and that their cost was not paid."""
    names = [agent for agent in run.scripted if agents is None or agent in agents]
    if not names:
        return []
    prices = price_models(trial for trial in run.trials if trial.key.agent in names)
    are = "is scripted: it tests" if len(names) == 1 else "are scripted: they test"
    paid = f"; cost as if {', '.join(prices)}" if prices else ""
    return [f"{', '.join(names)} {are} WAREX, not an LLM{paid}."]


def _priced_as_if(run: Run) -> list[str]:
    """Name the models of other agents that have no price of their own."""
    alike: dict[str, set[str]] = {}
    for trial in run.trials:
        if trial.llm and trial.key.agent not in run.scripted:
            for model, other in trial.llm.as_if.items():
                alike.setdefault(other, set()).add(model)
    return [
        f"{', '.join(sorted(models))} {'has' if len(models) == 1 else 'have'} no price of"
        f" {'its' if len(models) == 1 else 'their'} own; cost as if {other}."
        for other, models in alike.items()
    ]


def _shortened(run: Run) -> list[str]:
    longest = run.manifest.campaign.get("longest_hold_s") if run.manifest else None
    if not isinstance(longest, int | float):
        return []
    return [f"Delays capped at {longest:g} s: no fault keeps an exchange longer than that here."]


def _unread(run: Run) -> list[str]:
    """Say for each agent which calls could not be read, or that none was seen."""
    lines = []
    for agent in run.agents:
        trials = [t for t in run.trials if t.key.agent == agent and t.has_trace]
        unread = [call for trial in trials for call in trial.llm_unread]
        if unread:
            (url, reason), blind = unread[0], sum(bool(t.llm_unread) for t in trials)
            lines.append(
                f"{count_noun(len(unread), 'call')} of {agent} to a model in"
                f" {count_noun(blind, 'trial')} could not be read (first: {url}: {reason}): LLM"
                " calls, steps, tokens, cost, detection and recovery are unknown there."
            )
        elif trials and all(trial.llm is None for trial in trials):
            lines.append(
                f"No call of {agent} to a model came through the proxy: LLM calls, steps, tokens,"
                " cost, detection and recovery are unknown."
            )
    return lines


def _never_armed(run: Run) -> list[str]:
    waits = {"first_llm_call": "a call to a model", "first_page": "a page of a task site"}
    return [
        f"In {count_noun(number, 'trial')} of {condition} no fault could be applied: the scenario"
        f" waits for {waits.get(arm, arm)} (arm: {arm}), and none was seen."
        for (condition, arm), number in Counter(
            (t.key.condition, t.never_armed) for t in run.trials if t.never_armed
        ).items()
        if arm is not None
    ]


def _unpriced(run: Run) -> list[str]:
    models = {model for trial in run.trials if trial.llm for model in trial.llm.unpriced}
    return [
        f"No price is known for {model}, so its cost is left open; the campaign's [prices] can say."
        for model in sorted(models)
    ]


def _estimated(run: Run) -> list[str]:
    uncertain = sum(trial.llm.estimated_calls for trial in run.trials if trial.llm)
    if not uncertain:
        return []
    return [f"The tokens of {count_noun(uncertain, 'LLM call')} are estimated or partial."]


def _disagreements(run: Run) -> list[str]:
    number = sum(bool(r.disagreement) for trial in run.trials for r in trial.recoveries)
    if not number:
        return []
    return [
        f"In {count_noun(number, 'injection')} the model's words and the network disagree;"
        " the network decided. `warex inspect` says where."
    ]


def _crashes(table: Table) -> list[str]:
    """Give the success under other rules for crashes of the harness, if there were any."""
    lines = []
    for one in table.endings:
        if not (one.crashed or one.voided):
            continue
        where = f"{one.agent}, {one.condition}"
        seen = [f"{count_noun(one.crashed, 'trial')} after a fault (counted 0)"] * bool(one.crashed)
        seen += [f"{count_noun(one.voided, 'trial')} before any (run again)"] * bool(one.voided)
        lines.append(
            f"The harness crashed in {' and '.join(seen)} of {where}: success is"
            f" {rate_percent(one.success, interval=False)}; were each crash void it would be"
            f" {rate_percent(one.success_if_void, interval=False)}, were each 0"
            f" {rate_percent(one.success_if_zero, interval=False)}."
        )
    return lines


def _replayed(run: Run, table: Table) -> list[str]:
    calls = sum(row.replayed_calls or 0 for row in table.rows)
    asked = "`warex inspect` shows what a call that was asked anew differs in from those kept."
    if calls:
        were = "was" if calls == 1 else "were"
        return [
            f"{count_noun(calls, 'LLM call')} {were} answered out of the replay cache and not paid"
            f" again: a trial's cost and latency are as if the model had been asked. {asked}"
        ]
    kept = run.manifest is not None and bool(run.manifest.campaign.get("llm_cache"))
    if kept and sum(row.replayed_calls is not None for row in table.rows) > 1:
        return [f"No LLM call was answered out of the replay cache: {asked}"]
    return []


def _cut(run: Run) -> list[str]:
    if not (cut := len(cut_traces(run))):
        return []
    return [f"{count_noun(cut, 'trace')} without an end: figures cover what was written."]


def shared_footnotes(runs: Sequence[TabulatedRun]) -> list[str]:
    """Return the notes of all runs, each sentence once."""
    notes = ((*footnotes(run, table), *excluded_pairs(table)) for run, table in runs)
    return list(dict.fromkeys(chain.from_iterable(notes)))
