"""A program of somebody's own as a benchmark, from its campaign file to its table."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.slow.harness import site
from warex.analysis.run.load import load_run
from warex.traces import EVENTS, FaultDelivered, FaultMissed, LlmCall, read_trace

pytestmark = pytest.mark.browser

# Calls its model where it always does, then looks at the shop until it is open, then judges.
AGENT = """
import json, os, sys, urllib.error, urllib.request
goal, out = sys.argv[1:]
def model(text):
    asked = {"model": "gpt-4o", "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(
        "https://llm.example/v1/chat/completions",
        json.dumps(asked).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["MY_KEY"]},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]
def look(agent):
    request = urllib.request.Request("https://shop.example/", headers={
        "User-Agent": agent, "Sec-Fetch-Dest": "document", "Sec-Fetch-Mode": "navigate"})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()
seen = ""
while (action := model(f"goal: {goal}; I see: {seen}")) != "stop()":
    seen = look("Mozilla/5.0")
json.dump({"done": "tea" in look("judge/1")}, open(out, "w"))
"""

PLAYBOOK = {
    "rules": [
        {"when": "goal: buy .*I see: .*green tea", "say": "stop()"},
        {"when": "goal: buy", "say": "goto('https://shop.example/')"},
    ]
}


def run(folder: Path, campaign: dict[str, Any]) -> "subprocess.CompletedProcess[str]":
    (folder / "agent.py").write_text(AGENT)
    (folder / "playbook.yaml").write_text(yaml.safe_dump(PLAYBOOK))
    (folder / "tasks.jsonl").write_text('{"id": "tea", "goal": "buy green tea"}\n')
    (folder / "campaign.json").write_text(json.dumps(campaign))
    return subprocess.run(
        [
            *(sys.executable, "-m", "warex.cli", "run", str(folder / "campaign.json")),
            *("--out", str(folder / "run")),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def campaign(folder: Path, port: int) -> dict[str, Any]:
    return {
        "name": "mine",
        "benchmark": {
            "name": "command",
            "sites": {"https://shop.example": f"http://127.0.0.1:{port}"},
            "options": {
                "command": [sys.executable, str(folder / "agent.py"), "{task}", "{out}/r.json"],
                "tasks": {"file": "tasks.jsonl", "text": "goal"},
                "result": {"file": "{out}/r.json", "json": "done"},
                "verifiers": ["judge/"],
                "endpoints": ["https://llm.example/v1"],
                "keys": ["MY_KEY"],
                "vocabulary": {"navigate": ["goto"], "recover": ["goto"]},
            },
        },
        "agents": [{"name": "mine", "model": "playbook:playbook.yaml"}],
        "conditions": [
            {"name": "clean"},
            {"name": "server-error", "scenario": "paper/server-error"},
        ],
    }


@pytest.mark.slow
def test_your_own_program_meets_the_fault_and_its_judge_does_not(tmp_path: Path) -> None:
    with site({"/": "<title>Shop</title><p>green tea"}) as port:
        done = run(tmp_path, campaign(tmp_path, port))

    assert done.returncode == 0, done.stdout + done.stderr
    loaded = load_run(tmp_path / "run")
    assert loaded.manifest
    assert loaded.manifest.command == [
        *("warex", "run", str(tmp_path / "campaign.json")),
        *("--out", str(tmp_path / "run")),
    ]
    trials = {trial.key.condition: trial for trial in loaded.trials}
    assert {name: trial.solved for name, trial in trials.items()} == {
        "clean": True,
        "server-error": True,
    }
    assert trials["server-error"].recovered is True
    trace = read_trace(trials["server-error"].path / EVENTS)
    assert len(trace.events(FaultDelivered)) == 1
    # Its judge's own look at the page is left alone, and is told.
    assert [missed.reason for missed in trace.events(FaultMissed)] == ["never"]
    calls = {
        name: list(read_trace(trial.path / EVENTS).events(LlmCall))
        for name, trial in trials.items()
    }
    assert {name: len(called) for name, called in calls.items()} == {"clean": 2, "server-error": 3}
    assert all(call.url == "https://llm.example/v1/chat/completions" for call in calls["clean"])
    assert all(call.input_tokens for call in calls["clean"])


@pytest.mark.slow
def test_what_is_wrong_with_the_table_is_reported_before_anything_runs(tmp_path: Path) -> None:
    fields = campaign(tmp_path, 1)
    fields["benchmark"]["options"]["reslt"] = fields["benchmark"]["options"].pop("result")

    done = run(tmp_path, fields)

    assert done.returncode == 2
    assert "campaign.json: benchmark.options: there is no key 'reslt'" in done.stderr
    assert "did you mean 'result'?" in done.stderr
    assert not (tmp_path / "run").exists()
