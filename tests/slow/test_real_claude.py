"""REAL's harness and demo agent, unmodified, with Claude for its model, behind the proxy.

The model is a server of the tests that speaks Anthropic Messages; its log is compared with.
"""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.slow.harness import WAREX, Played, made, own_authority, play, site
from tests.slow.model_server import Line, Served, model_server
from tests.slow.test_real import MAIL, NOT_SAVED, TASK
from warex.traces import AgentAction, FaultDelivered, LlmCall, Trace

pytestmark = pytest.mark.slow

MODEL = "claude-sonnet-4-20250514"
"""What the demo agent makes of ``claude-sonnet-4``."""
USD = (3, 0.3, 3.75, 15)
"""List prices per million tokens: input, out of the cache, into the cache, output."""

MARK_AS_READ = (
    Line("All mails are read", 'It is.\n```send_msg_to_user("It is read.")```'),
    Line(r"\[(?P<bid>\w+)\] button 'Mark as read'", 'I mark it.\n```click("$bid")```'),
)
OVERLOADED = {
    "name": "overloaded",
    "rules": [
        {
            "name": "refusing",
            "match": {"llm": {"family": "anthropic_messages", "step": 1}},
            "trigger": {"first": 2},
            "fault": {"kind": "llm_error", "error": "overloaded"},
        }
    ],
}
RUNS = {"namespace": ("saving", NOT_SAVED), "environment": ("overloaded", OVERLOADED)}
"""By the way of capture: the condition and its scenario."""

EACH = pytest.mark.parametrize("isolate", RUNS)


@dataclass(frozen=True, slots=True)
class Ran:
    """One trial, and what its model's server answered."""

    played: Played
    condition: str
    served: list[Served]

    @property
    def trace(self) -> Trace:
        """What WAREX saw."""
        return self.played.trace(self.condition)

    @property
    def answered(self) -> list[LlmCall]:
        """The calls that the model's server answered."""
        return [call for call in self.trace.events(LlmCall) if call.status == 200]

    def inspected(self) -> dict[str, Any]:
        """What `warex inspect` says of it."""
        shown = subprocess.run(
            [*WAREX, "inspect", self.played.folder(self.condition), "--json"],
            capture_output=True,
            timeout=60,
            check=True,
        )
        document: dict[str, Any] = json.loads(shown.stdout)
        return document


@pytest.fixture(scope="module")
def runs(environments: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Ran]:
    """Each run is made once."""
    own_authority(environments)
    return cache(lambda isolate: run(isolate, environments, tmp_path_factory.mktemp("claude")))


def run(isolate: str, environments: Path, folder: Path) -> Ran:
    condition, scenario = RUNS[isolate]
    with model_server(*MARK_AS_READ) as model, site(MAIL) as port:
        fields = {
            "name": "real",
            "isolate": isolate,
            "benchmark": {
                "name": "real",
                "dir": str(made("real", environments)),
                "sites": {"gomail": f"http://127.0.0.1:{port}"},
            },
            "tasks": {"names": [TASK]},
            "timeout_s": 180,
            "agents": [
                {
                    "name": "demo",
                    "model": "claude-sonnet-4",
                    "base_url": model.origin,
                    "max_steps": 6,
                }
            ],
            "conditions": [{"name": condition, "scenario": "scenario.yaml"}],
        }
        return Ran(play(folder, fields, scenario=scenario), condition, model.served)


@EACH
def test_every_call_is_recorded_as_the_models_server_answered_it(
    runs: Callable[[str], Ran], isolate: str
) -> None:
    ran = runs(isolate)

    assert ran.served
    assert ran.played.trials[ran.condition].solved
    assert "past the proxy" not in ran.played.output
    for call, served in zip(ran.answered, ran.served, strict=True):
        assert call.url == "https://api.anthropic.com/v1/messages"
        assert (call.family, call.model, served.model) == ("anthropic_messages", MODEL, MODEL)
        assert (call.answer, call.usage, call.error) == (served.content, "reported", None)
        assert (call.input_tokens, call.output_tokens) == (served.input_total, served.output_total)
        cached = (call.cached_tokens, call.cache_write_tokens)
        assert cached == (served.cache_read, served.cache_write)


@EACH
def test_steps_actions_and_cost_match_the_models_log(
    runs: Callable[[str], Ran], isolate: str
) -> None:
    ran = runs(isolate)
    llm = ran.inspected()["llm"]
    plain, read, written, out = USD
    usd = sum(
        each.input_plain * plain
        + each.cache_read * read
        + each.cache_write * written
        + each.output_total * out
        for each in ran.served
    )
    actions = ["click"] * (len(ran.served) - 1) + ["send_msg_to_user"]

    assert llm["steps"] == len(ran.served) == len({call.step for call in ran.answered})
    assert llm["cost_usd"] == pytest.approx(usd / 1e6)
    assert [action.name for action in ran.trace.events(AgentAction)] == actions


def test_a_fault_armed_by_the_first_call_strikes_and_its_recovery_is_seen(
    runs: Callable[[str], Ran],
) -> None:
    ran = runs("namespace")
    first, second, _ = ran.answered

    assert len(list(ran.trace.events(FaultDelivered))) == 1
    assert "Not saved: status 500" not in json.dumps(first.messages)
    assert "Not saved: status 500" in json.dumps(second.messages)
    assert ran.inspected()["recovered"] is True


def test_an_overloaded_model_is_asked_again_in_its_step(runs: Callable[[str], Ran]) -> None:
    calls = list(runs("environment").trace.events(LlmCall))

    assert [(call.status, call.step) for call in calls] == [(529, 1), (529, 1), (200, 1), (200, 2)]
