"""browser-use, unmodified, with its chat models for Claude and Gemini, behind `warex exec`.

The models are served on loopback by a server of the tests, whose log is what is compared with.
"""

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.slow.harness import WAREX, made, own_authority, play
from tests.slow.model_server import Line, Served, model_server
from warex.benchmarks.adapters.browser_use import QUIET
from warex.sandbox.chromium import find_chromium
from warex.traces import (
    EVENTS,
    AgentAction,
    FaultDelivered,
    FaultPlanned,
    LlmCall,
    LlmRetried,
    LlmUnread,
    RequestSeen,
    Trace,
    read_trace,
)
from warex_testbed.server import Testbed

pytestmark = pytest.mark.slow

AGENT = Path(__file__).with_name("programs") / "browser_use_agent.py"
TASK = "In which room does the budget review of 18 June take place?"
SITE = "https://calendar.warex.test"


def does(**action: Any) -> dict[str, Any]:
    """Return what the model says to have one action done."""
    thoughts = dict.fromkeys(("thinking", "evaluation_previous_goal", "memory", "next_goal"), "so")
    return {**thoughts, "action": [action]}


JUDGED = {
    "reasoning": "The page shows it.",
    "verdict": True,
    "failure_reason": "",
    "impossible_task": False,
    "reached_captcha": False,
}
FIND_THE_ROOM = (
    Line("expert judge", JUDGED),
    Line("Room Juniper", does(done={"text": "It takes place in Room Juniper.", "success": True})),
    Line(
        r"\[(?P<index>\d+)\]<a aria-label=Budget review, Thursday 18 June, 14:30",
        does(click={"index": "$index"}),
    ),
    # A tab without a page, and a page that says that the site is down.
    Line("", does(navigate={"url": f"{SITE}/", "new_tab": False})),
)

PAGE_DOWN = {
    "name": "page-down",
    "arm": "first_llm_call",
    "rules": [
        {
            "name": "down",
            "match": {"url": "{sites}", "resource": ["document"]},
            "trigger": {"first": 1},
            "fault": {"kind": "http_error", "status": 500, "body": "<h1>Down for today</h1>"},
        }
    ],
}


def refusing(step: int, **fault: Any) -> dict[str, Any]:
    """Return a rule by which the first call of a step is refused."""
    return {
        "name": f"step-{step}",
        "match": {"llm": {"step": step}},
        "trigger": {"first": 1},
        "fault": {"kind": "llm_error", **fault},
    }


OVERLOADED = refusing(1, error="overloaded")
LIMITED = {"error": "rate_limited", "wait": 1}


@dataclass(frozen=True, slots=True)
class Vendor:
    """Where browser-use asks a vendor's model."""

    key: str
    model: str
    family: str
    host: str
    variable: str
    usd: tuple[float, float, float, float]
    """List prices per million tokens: input, out of the cache, into the cache, output."""


VENDORS = {
    "anthropic": Vendor(
        "ANTHROPIC_API_KEY",
        "claude-sonnet-4-5",
        "anthropic_messages",
        "https://api.anthropic.com",
        "ANTHROPIC_BASE_URL",
        (3, 0.3, 3.75, 15),
    ),
    "google": Vendor(
        "GOOGLE_API_KEY",
        "gemini-2.5-flash",
        "gemini",
        "https://generativelanguage.googleapis.com",
        "GOOGLE_GEMINI_BASE_URL",
        (0.3, 0.03, 0.3, 2.5),
    ),
}


@dataclass(frozen=True, slots=True)
class Answered:
    """How one run is made."""

    vendor: str
    isolate: str
    mapped: bool
    """Whether the vendor's own host is served by the tests' server; else a variable names that."""
    scenario: Mapping[str, Any]


RUNS = {
    "claude, page down": Answered("anthropic", "namespace", True, PAGE_DOWN),
    "gemini, page down": Answered("google", "namespace", False, PAGE_DOWN),
    "claude refused": Answered(
        "anthropic",
        "environment",
        True,
        {"name": "refused", "rules": [OVERLOADED, refusing(2, **LIMITED)]},
    ),
    "gemini refused": Answered(
        "google", "environment", True, {"name": "refused", "rules": [refusing(1, **LIMITED)]}
    ),
}


EACH = pytest.mark.parametrize("name", RUNS)


@dataclass(frozen=True, slots=True)
class Ran:
    """What there is to compare."""

    vendor: Vendor
    report: Mapping[str, Any]
    """By browser-use's history."""
    served: list[Served]
    trace: Trace
    inspected: Mapping[str, Any]

    @property
    def answered(self) -> list[LlmCall]:
        """The calls that the model's server answered."""
        return [call for call in self.trace.events(LlmCall) if call.status == 200]


@pytest.fixture(scope="module")
def runs(environments: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Ran]:
    """Each run is made once."""
    return cache(lambda name: run(name, environments, tmp_path_factory.mktemp("models")))


def run(name: str, environments: Path, folder: Path) -> Ran:
    reported = RUNS[name]
    vendor = VENDORS[reported.vendor]
    python = made("browser-use", environments) / "venv/bin/python"
    scenario = folder / "scenario.yaml"
    scenario.write_text(yaml.safe_dump(dict(reported.scenario)))
    out = folder / "trial"
    with model_server(*FIND_THE_ROOM) as model, Testbed() as bed:
        variables = {**os.environ, **QUIET, vendor.key: "a-key-of-nobody", "TMPDIR": str(folder)}
        # What browser-use imports is compiled once.
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        variables |= {"WAREX_CA_DIR": str(environments / "ca")}
        variables |= {"BROWSER_USE_CONFIG_DIR": str(folder / "config")}
        maps = ["--map", f"{SITE}=http://127.0.0.1:{bed.port}"]
        if reported.mapped:
            maps += ["--map", f"{vendor.host}={model.origin}"]
        else:
            variables[vendor.variable] = model.origin
        agent = [python, AGENT, reported.vendor, vendor.model, find_chromium(), TASK]
        options = ["--isolate", reported.isolate, "--out", out, "--scenario", scenario]
        options += ["--site", SITE, *maps, "--vocabulary", "browser-use"]
        done = subprocess.run(
            [*WAREX, "exec", *map(str, options), "--", *map(str, agent)],
            env=variables,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout.splitlines()[-1])
    shown = subprocess.run(
        [*WAREX, "inspect", out, "--json"], capture_output=True, timeout=60, check=True
    )
    trace = read_trace(out / EVENTS)
    inspected = json.loads(shown.stdout)
    return Ran(vendor, document, model.served, trace, inspected)


@EACH
def test_every_call_is_recorded_as_the_models_server_answered_it(
    runs: Callable[[str], Ran], name: str
) -> None:
    ran = runs(name)
    assert ran.report["answer"] == "It takes place in Room Juniper."
    assert ran.report["llm_calls"] == len(ran.served) == len(ran.answered)
    assert not list(ran.trace.events(LlmUnread))
    for call, served in zip(ran.answered, ran.served, strict=True):
        assert (call.family, call.model) == (ran.vendor.family, served.model)
        assert (call.usage, call.complete, call.error) == ("reported", True, None)
        assert (call.input_tokens, call.output_tokens) == (served.input_total, served.output_total)
        assert (call.cached_tokens, call.cache_write_tokens) == (
            served.cache_read,
            served.cache_write,
        )
        assert call.reasoning_tokens == served.thought
    assert ran.report["output_tokens"] == sum(call.output_tokens or 0 for call in ran.answered)


@EACH
def test_each_call_but_a_repeat_is_a_step_and_costs_its_list_price(
    runs: Callable[[str], Ran], name: str
) -> None:
    ran = runs(name)
    llm = ran.inspected["llm"]
    plain, read, written, out = ran.vendor.usd
    usd = sum(
        each.input_plain * plain
        + each.cache_read * read
        + each.cache_write * written
        + each.output_total * out
        for each in ran.served
    )

    # A refused call that is not asked again in the same words is a step of its own. The last call
    # is browser-use's judge.
    lost = 1 if name == "gemini refused" else 0
    assert [call.step for call in ran.answered] == [n + lost for n in range(1, len(ran.served) + 1)]
    assert llm["steps"] == len(ran.served) + lost
    assert llm["cost_usd"] == pytest.approx(usd / 1e6)
    assert llm["input_tokens"] == sum(each.input_total for each in ran.served)


@EACH
def test_the_actions_read_are_those_that_it_took(runs: Callable[[str], Ran], name: str) -> None:
    ran = runs(name)
    assert [action.name for action in ran.trace.events(AgentAction)] == ran.report["actions"]


@EACH
def test_prompts_and_screenshots_of_the_model_are_recorded(
    runs: Callable[[str], Ran], name: str
) -> None:
    ran = runs(name)
    # The last call but its judge's.
    shown = json.dumps(ran.answered[-2].messages)

    assert "budget review of 18 June" in shown
    assert "Room Juniper" in shown
    assert "blob:sha256/" in shown, "the screenshot"


@pytest.mark.parametrize("name", ["claude, page down", "gemini, page down"])
def test_a_fault_armed_by_the_first_call_strikes_and_its_recovery_is_seen(
    runs: Callable[[str], Ran], name: str
) -> None:
    ran = runs(name)
    (planned,) = ran.trace.events(FaultPlanned)
    (delivered,) = ran.trace.events(FaultDelivered)
    first, second = ran.answered[:2]
    documents = [
        event
        for event in ran.trace.events(RequestSeen)
        if event.url == f"{SITE}/" and event.top_level
    ]

    assert (planned.url, planned.injection) == (f"{SITE}/", delivered.injection)
    assert "Down for today" not in json.dumps(first.messages)
    assert "Down for today" in json.dumps(second.messages)
    assert ran.report["actions"] == ["navigate", "navigate", "click", "done"]
    assert len(documents) == 2
    assert ran.inspected["exposed"] is True
    assert ran.inspected["recovered"] is True


def test_anthropics_client_asks_a_refused_call_again_in_its_step(
    runs: Callable[[str], Ran],
) -> None:
    ran = runs("claude refused")
    refused = [call for call in ran.trace.events(LlmCall) if call.status != 200]
    (again,) = ran.trace.events(LlmRetried)

    assert [(call.status, call.step) for call in refused] == [(529, 1), (429, 2)]
    assert ["Overloaded" in (refused[0].error or ""), bool(refused[1].error)] == [True, True]
    assert (again.retry_after_s, again.waited_s >= 0.95) == (1, True)
    assert ran.report["actions"] == ["navigate", "click", "done"]


def test_browser_use_takes_a_refusal_of_gemini_for_a_step(runs: Callable[[str], Ran]) -> None:
    ran = runs("gemini refused")
    (refused,) = (call for call in ran.trace.events(LlmCall) if call.status != 200)

    assert (refused.status, refused.step) == (429, 1)
    assert not list(ran.trace.events(LlmRetried))
    assert ran.report["actions"] == ["navigate", "click", "done"]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_campaign_asks_it_by_browser_uses_own_client(
    environments: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    vendor: str,
) -> None:
    own_authority(environments)
    with model_server(*FIND_THE_ROOM) as model:
        asked = VENDORS[vendor]
        monkeypatch.setenv(asked.key, "a-key-of-nobody")
        fields = {
            "name": "browser-use",
            "isolate": "namespace",
            "benchmark": {
                "name": "browser-use",
                "dir": str(made("browser-use", environments)),
                "options": {"api": vendor, "agent": {"use_judge": False}},
            },
            "tasks": {"names": ["calendar-budget-review-room"]},
            "timeout_s": 180,
            "agents": [
                {"name": "a", "model": asked.model, "base_url": model.origin, "max_steps": 6}
            ],
            "conditions": [{"name": "clean"}],
        }
        played = play(tmp_path, fields)
    calls = list(played.trace("clean").events(LlmCall))

    assert played.trials["clean"].solved
    assert {(call.family, call.model) for call in calls} == {(asked.family, asked.model)}
    assert [call.input_tokens for call in calls] == [each.input_total for each in model.served]
