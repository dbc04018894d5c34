"""Notes on a table: what was left out or assumed."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path

from warex.analysis.metrics.sample import price_models
from warex.analysis.run.conditions import campaign_list
from warex.analysis.run.load import Run
from warex.analysis.table.tabulate import Table, TabulatedRun
from warex.report.text.formatting import delta, rate_percent, signed_mean
from warex.text.english import count_noun

_MOST = 20
"""Maximum number of sentences of one kind."""


def baseline_notes(table: Table) -> Iterator[str]:
    """Yield the effect of the proxy alone, and the noise floor."""
    seconds, floors = dict(table.proxy_latency), dict(table.noise_floor)
    for agent, effect in table.proxy_effect:
        line = (
            f"Proxy effect on {agent} (clean minus no-proxy): {delta(effect)} points over"
            f" {count_noun(effect.pairs, 'pair')}"
        )
        if (slower := seconds.get(agent)) is not None:
            line += f", {signed_mean(slower, 2, ' s of latency')}"
        yield f"{line}."
    sides = {"control": "clean against its control", "repeats": "repeats of clean"}
    for agent, floor in floors.items():
        yield (
            f"Noise floor of {agent} ({sides[floor.source]}): {delta(floor.delta)} points, and"
            f" {floor.flips} of {count_noun(floor.pairs, 'pair')} flip."
        )
    for agent, _ in table.power:
        if agent not in floors:
            yield (
                f"Noise floor of {agent}: not known, since nothing was run twice (a control or"
                " repeats)."
            )
    for agent in dict.fromkeys(row.agent for row in table.rows):
        parted = Counter[str]()
        for row in table.rows:
            if row.agent == agent and row.parting:
                parted.update(dict(row.parting.by))
        if pairs := parted.total():
            before = f"{parted['before_faults']} of {count_noun(pairs, 'trial')} under faults"
            yield (
                f"Parting of {agent}: {before} part from their clean twins before any fault, by the"
                " agent's own variation."
            )


def footnotes(run: Run, table: Table) -> tuple[str, ...]:
    """Return what was left out or assumed, one sentence each."""
    return tuple(_footnotes(run, table))


def _footnotes(run: Run, table: Table) -> Iterator[str]:
    yield from (note for note in campaign_list(run.manifest, "notes") if isinstance(note, str))
    yield from scripted(run)
    yield from _priced_as_if(run)
    campaign = run.manifest.campaign if run.manifest else {}
    if isinstance(longest := campaign.get("longest_hold_s"), int | float):
        yield f"Delays capped at {longest:g} s: no fault keeps an exchange longer than that here."
    yield from _unread(run)
    yield from _never_armed(run)
    usages = [trial.llm for trial in run.trials if trial.llm]
    for model in sorted({model for usage in usages for model in usage.unpriced}):
        yield (
            f"No price is known for {model}, so its cost is left open; the campaign's [prices] can"
            " say."
        )
    if uncertain := sum(usage.estimated_calls for usage in usages):
        yield f"The tokens of {count_noun(uncertain, 'LLM call')} are estimated or partial."
    yield from _replayed(table, cached=bool(campaign.get("llm_cache")))
    if number := sum(bool(r.disagreement) for trial in run.trials for r in trial.recoveries):
        yield (
            f"In {count_noun(number, 'injection')} the model's words and the network disagree;"
            " the network decided. `warex inspect` says where."
        )
    if cut := len(cut_traces(run)):
        yield f"{count_noun(cut, 'trace')} without an end: figures cover what was written."
    yield from _crashes(table)
    if table.unfinished:
        yield f"{count_noun(table.unfinished, 'trial')} not finished, so not in the table."


def excluded_pairs(table: Table) -> tuple[str, ...]:
    """Return the trials that stayed void, one sentence each."""
    listed = tuple(
        f"{agent}, {condition}: {pair[1]} (repeat {pair[2]}) stayed void, so it does not count."
        for agent, condition, pair in table.left_out[:_MOST]
    )
    more = len(table.left_out) - len(listed)
    return (*listed, f"And {more} more, all in summary.json.") if more else listed


def cut_traces(run: Run) -> tuple[tuple[Path, str], ...]:
    """Return the attempts whose trace is truncated, and how."""
    return tuple((attempt.path, attempt.truncated) for attempt in run.attempts if attempt.truncated)


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


def _unread(run: Run) -> Iterator[str]:
    """Say for each agent which calls could not be read, or that none was seen."""
    for agent in run.agents:
        trials = [t for t in run.trials if t.key.agent == agent and t.has_trace]
        unread = [call for trial in trials for call in trial.llm_unread]
        if unread:
            (url, reason), blind = unread[0], sum(bool(t.llm_unread) for t in trials)
            yield (
                f"{count_noun(len(unread), 'call')} of {agent} to a model in"
                f" {count_noun(blind, 'trial')} could not be read (first: {url}: {reason}): LLM"
                " calls, steps, tokens, cost, detection and recovery are unknown there."
            )
        elif trials and all(trial.llm is None for trial in trials):
            yield (
                f"No call of {agent} to a model came through the proxy: LLM calls, steps, tokens,"
                " cost, detection and recovery are unknown."
            )


def _never_armed(run: Run) -> list[str]:
    model, page = "a call to a model", "a page of a task site"
    waits = {
        "first_llm_call": model,
        "first_page": page,
        "first_page_or_llm_call": f"{page} or {model}",
    }
    return [
        f"In {count_noun(number, 'trial')} of {condition} no fault could be applied: the scenario"
        f" waits for {waits.get(arm, arm)} (arm: {arm}), and none was seen."
        for (condition, arm), number in Counter(
            (t.key.condition, t.never_armed) for t in run.trials if t.never_armed
        ).items()
        if arm is not None
    ]


def _crashes(table: Table) -> Iterator[str]:
    """Give the success under other rules for crashes of the harness, if there were any."""
    for one in table.endings:
        if not (one.crashed or one.voided):
            continue
        where = f"{one.agent}, {one.condition}"
        seen = [f"{count_noun(one.crashed, 'trial')} after a fault (counted 0)"] * bool(one.crashed)
        seen += [f"{count_noun(one.voided, 'trial')} before any (run again)"] * bool(one.voided)
        yield (
            f"The harness crashed in {' and '.join(seen)} of {where}: success is"
            f" {rate_percent(one.success, interval=False)}; were each crash void it would be"
            f" {rate_percent(one.success_if_void, interval=False)}, were each 0"
            f" {rate_percent(one.success_if_zero, interval=False)}."
        )


def _replayed(table: Table, *, cached: bool) -> Iterator[str]:
    """Count the calls answered from the replay cache; ``cached``: whether there is one."""
    calls = sum(row.replayed_calls or 0 for row in table.rows)
    asked = "`warex inspect` shows what a call that was asked again differs in from those kept."
    if calls:
        were = "was" if calls == 1 else "were"
        yield (
            f"{count_noun(calls, 'LLM call')} {were} answered from the replay cache and not paid"
            f" again: a trial's cost and latency are as if the model had been asked. {asked}"
        )
    elif cached and sum(row.replayed_calls is not None for row in table.rows) > 1:
        yield f"No LLM call was answered from the replay cache: {asked}"


def shared_footnotes(runs: Sequence[TabulatedRun]) -> list[str]:
    """Return the notes of all runs, each sentence once."""
    notes = ((*footnotes(run, table), *excluded_pairs(table)) for run, table in runs)
    return list(dict.fromkeys(chain.from_iterable(notes)))
