"""Trials of the small shop, and attempts at them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from warex.benchmarks import AgentSpec
from warex.scenarios import Scenario
from warex.traces import (
    EVENTS,
    LlmCall,
    Outcome,
    TrialKey,
    attempt_dir,
    begin_llm_cache,
    read_outcome,
    read_trace,
)
from warex.trials import TrialContext, TrialSpec, run_trial

BROKEN_ONCE = Scenario.model_validate(
    {
        "name": "broken-once",
        "rules": [{"name": "r", "trigger": {"first": 1}, "fault": {"kind": "http_error"}}],
    }
)


def spec(does: str, scenario: Scenario | None = None, *, proxied: bool = True) -> TrialSpec:
    """Return a trial whose agent executes these verbs (see ``tests.trials.shop.AGENT``)."""
    key = TrialKey("shop", "a", "server-error" if scenario else "clean", "buy", 2)
    agent = AgentSpec("a", f"scripted:{does}")
    return TrialSpec(key, agent, 77, scenario, proxied=proxied)


def attempt(of: TrialSpec, context: TrialContext, folder: Path) -> Outcome:
    outcome = run_trial(of, 1, folder / "attempt-1", context)
    assert read_outcome(folder / "attempt-1") == outcome
    return outcome


def trials_of_one_run(
    context: TrialContext, run: Path, *specs: TrialSpec
) -> Iterator[tuple[Outcome, list[bool]]]:
    """Run trials of one run with a cache of answers; yield outcomes and whether calls replayed."""
    run.mkdir()
    keeping = replace(context, llm_cache=begin_llm_cache(run))
    for trial in specs:
        folder = attempt_dir(run, trial.key, 1)
        outcome = run_trial(trial, 1, folder, keeping)
        calls = read_trace(folder / EVENTS).events(LlmCall)
        assert not (folder / "llm-answers").exists()
        yield outcome, [call.replayed for call in calls]
