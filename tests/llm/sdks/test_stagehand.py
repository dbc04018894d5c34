"""Stagehand, unmodified, works on the testbed behind the proxy with a real Chromium.

Its calls to its model are made by an extension of the browser, over the Responses API.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.llm.sdks.conftest import node
from warex.traces import EVENTS, AgentAction, FaultDelivered, LlmCall, LlmUnread, Trace, read_trace

pytestmark = [pytest.mark.slow, pytest.mark.browser]

EVENT_DOWN = {
    "name": "event-down",
    "arm": "first_llm_call",
    "rules": [
        {
            "name": "down",
            "match": {"url": "https://calendar.warex.test/*", "resource": ["document"]},
            "trigger": {"first": 1},
            "fault": {"kind": "http_error", "status": 500, "body": "<h1>On holiday</h1>"},
        }
    ],
}


@dataclass(frozen=True)
class Ran:
    results: Mapping[str, Any]
    """What Stagehand gave its caller."""
    log: Sequence[Mapping[str, Any]]
    """The answers of the model."""
    trace: Trace


@contextmanager
def served(command: Sequence[object], folder: Path) -> Iterator[str]:
    """Start a server; yield the line that it prints."""
    words = list(map(str, command))
    with subprocess.Popen(
        words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            yield server.stdout.readline()
        finally:
            server.stdin.close()
            server.wait(10)


@pytest.fixture(scope="module", params=["namespace", "environment"])
def ran(
    request: pytest.FixtureRequest, packages: Path, tmp_path_factory: pytest.TempPathFactory
) -> Ran:
    folder = tmp_path_factory.mktemp("stagehand")
    log, out = folder / "log", folder / "trial"
    (folder / "scenario.yaml").write_text(yaml.safe_dump(EVENT_DOWN))
    (folder / "vocabulary.yaml").write_text(yaml.safe_dump({"other": ["click", "fill"]}))
    testbed = [sys.executable, "-m", "warex_testbed", "serve", "--exit-with-stdin"]
    with (
        served([node(packages), packages / "stagehand" / "model.mjs", log], folder) as model,
        served(testbed, folder) as sites,
    ):
        maps = {
            "https://api.openai.com": int(model),
            "https://calendar.warex.test": json.loads(sites)["port"],
        }
        options = ["--isolate", request.param, "--out", out]
        options += ["--scenario", folder / "scenario.yaml"]
        options += ["--vocabulary", folder / "vocabulary.yaml"]
        for site, port in maps.items():
            options += ["--map", f"{site}=http://127.0.0.1:{port}"]
        agent = [node(packages), packages / "stagehand" / "agent.mjs"]
        done = subprocess.run(
            [*map(str, (sys.executable, "-m", "warex.cli", "exec", *options, "--", *agent))],
            cwd=packages,
            env={**os.environ, "WAREX_CA_DIR": str(folder / "ca")},
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    document = json.loads(done.stdout.splitlines()[-1])
    lines = log.read_text(encoding="utf-8").splitlines()
    return Ran(document, [json.loads(line) for line in lines], read_trace(out / EVENTS))


def test_stagehands_calls_and_tokens_are_the_models(ran: Ran) -> None:
    calls = ran.trace.events(LlmCall)

    assert [(call.answer, numbers(call)) for call in calls] == [
        (it["text"], it["usage"]) for it in ran.log
    ]
    assert {(call.family, call.model, call.finish) for call in calls} == {
        ("openai_responses", "gpt-4o-mini", "stop")
    }
    assert not ran.trace.events(LlmUnread)


def test_stagehands_tokens_are_its_own_count(ran: Ran) -> None:
    calls = ran.trace.events(LlmCall)

    assert sum(it["inputTokens"] for it in ran.results["numbers"]) == sum(
        call.input_tokens or 0 for call in calls
    )
    assert sum(it["outputTokens"] for it in ran.results["numbers"]) == sum(
        call.output_tokens or 0 for call in calls
    )


def test_each_call_is_a_step_and_its_click_an_action(ran: Ran) -> None:
    (click,) = ran.trace.events(AgentAction)

    assert [call.step for call in ran.trace.events(LlmCall)] == [*range(1, len(ran.log) + 1)]
    assert (click.name, click.step) == ("click", 1)


def test_stagehands_first_call_arms_the_scenario(ran: Ran) -> None:
    assert len(ran.trace.events(FaultDelivered)) == 1
    assert [json.loads(it["text"])["room"] for it in ran.log if it["name"] == "Extraction"] == [
        "",
        "Room Juniper",
    ]
    assert ran.results["room"] == "Room Juniper"


def numbers(call: LlmCall) -> dict[str, int | None]:
    """What WAREX tells of a call's tokens, in the model's words."""
    return {
        "input": call.input_tokens,
        "output": call.output_tokens,
        "cacheRead": call.cached_tokens,
        "cacheWrite": call.cache_write_tokens,
        "reasoning": call.reasoning_tokens,
    }
