"""What an adapter says reaches the proxy and the command."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.trials.shop import SITE, Shop
from warex.benchmarks import AgentSpec, Command, Job, TaskEnvironment
from warex.scenarios import Scenario
from warex.traces import Counted, FaultDelivered, FaultMissed, LlmCall, Trace, TrialKey, read_trace
from warex.trials import TrialContext, TrialSpec, run_trial
from warex.trials.playbook import Playbook

pytestmark = pytest.mark.wire

BROKEN_ONCE = Scenario.model_validate(
    {
        "name": "broken-once",
        "arm": "start",
        "rules": [{"name": "r", "trigger": {"first": 1}, "fault": {"kind": "http_error"}}],
    }
)
HARD_CODED = "https://llm.warex-harness.example/v1"


def ran(shop: Shop, context: TrialContext, folder: Path, does: str, **other: Any) -> Trace:
    key = TrialKey("shop", "a", "clean", "buy", 1)
    spec = TrialSpec(key, AgentSpec("a", f"scripted:{does}"), 7, **other)
    outcome = run_trial(spec, 1, folder / "attempt-1", replace(context, benchmark=shop))
    assert isinstance(outcome, Counted), outcome
    return read_trace(folder / "attempt-1" / "events.jsonl")


def agent_environment(folder: Path) -> dict[str, str]:
    log = (folder / "attempt-1" / "agent.log").read_text()
    document: dict[str, str] = json.loads(log.splitlines()[-1])
    return document


class HardCoded(Shop):
    """Calls its model where it always does, whatever it gets."""

    def endpoints(self, agent: AgentSpec) -> tuple[str, ...]:
        return (HARD_CODED,)

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        return super().command(
            replace(job, agent=replace(job.agent, base_url=HARD_CODED)), environment
        )


@pytest.mark.parametrize("of_ones_own", [False, True])
def test_a_model_that_a_harness_hard_codes_is_served_in_its_place(
    context: TrialContext, tmp_path: Path, model_port: int, of_ones_own: bool
) -> None:
    if of_ones_own:
        key = TrialKey("shop", "a", "clean", "buy", 1)
        existing = f"http://127.0.0.1:{model_port}/v1"
        spec = TrialSpec(key, AgentSpec("a", "model,page", existing), 7)
        changed = replace(context, benchmark=HardCoded(), model_port=None)
        assert isinstance(run_trial(spec, 1, tmp_path / "attempt-1", changed), Counted)
        trace = read_trace(tmp_path / "attempt-1" / "events.jsonl")
    else:
        trace = ran(HardCoded(), context, tmp_path, "model,page")

    (call,) = trace.events(LlmCall)
    assert call.url.startswith(HARD_CODED)
    assert call.input_tokens == 5


@pytest.mark.parametrize("by", ["agent", "url", "none"])
def test_a_judges_requests_are_neither_hit_nor_counted(
    context: TrialContext, tmp_path: Path, by: str
) -> None:
    class Judged(Shop):
        judge_user_agents = ("Python-urllib/",) if by == "agent" else ()

        def exclusions(self, task: str) -> tuple[str, ...]:
            return (f"{SITE}/*",) if by == "url" else ()

        def was_visited(self, environment: TaskEnvironment) -> bool | None:
            # What judges is not a browser, so none has gone past the proxy.
            return False if by == "agent" else None

    trace = ran(Judged(), context, tmp_path, "page,model", scenario=BROKEN_ONCE)

    assert len(trace.events(FaultDelivered)) == (by == "none")
    missed = [event.reason for event in trace.events(FaultMissed)]
    assert missed == ([] if by == "none" else ["never"])
    # A verifier may ask a model, and the agent's client may be called like one.
    assert len(trace.events(LlmCall)) == 1


def test_the_command_gets_what_the_adapter_sets_and_a_scratch_of_its_own(
    context: TrialContext, tmp_path: Path
) -> None:
    seen: list[Job] = []

    class Telling(Shop):
        api_key_variables = ("WAREX_TEST_KEY", "PATH")

        def command(self, job: Job, environment: TaskEnvironment) -> Command:
            assert job.scratch.is_dir()
            seen.append(job)
            python, how, code, *rest = super().command(job, environment).arguments
            shows = f"{code}\nprint(os.getcwd())\nprint(json.dumps(dict(os.environ)))"
            return Command([python, how, shows, *rest], {"MINE": "1"}, tmp_path)

    ran(Telling(), context, tmp_path, "page")

    results = agent_environment(tmp_path)
    assert (tmp_path / "attempt-1" / "agent.log").read_text().splitlines()[-2] == str(tmp_path)
    assert results["MINE"] == "1"
    assert results["PATH"].endswith(os.environ["PATH"])
    # A placeholder, and redacted like a key.
    assert "WAREX_TEST_KEY" in results
    (job,) = seen
    assert (job.task, job.seed, job.folder) == ("buy", 7, tmp_path / "attempt-1")
    assert not job.scratch.exists()


def test_a_playbook_serves_one_trial_under_a_valid_model_name(
    context: TrialContext, tmp_path: Path
) -> None:
    class Named(Shop):
        mock_model_name = "page,model"

    key = TrialKey("shop", "a", "clean", "buy", 1)
    playbook = Playbook.model_validate({"rules": [{"when": "what now", "say": "look"}]})
    spec = TrialSpec(key, AgentSpec("a", "playbook:x.yaml"), 7, playbook=playbook)
    changed = replace(context, benchmark=Named(), model_port=None)

    outcome = run_trial(spec, 1, tmp_path / "attempt-1", changed)

    assert isinstance(outcome, Counted), outcome
    (call,) = read_trace(tmp_path / "attempt-1" / "events.jsonl").events(LlmCall)
    assert call.answer == "look"
