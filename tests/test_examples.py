"""The examples do what they say."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from itertools import product
from pathlib import Path

import click
import pytest
import yaml

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.output.comparison import ComparedAgent, compare
from warex.analysis.output.thresholds import judge_run
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.cli.app import cli
from warex.scenarios.load import load_scenario
from warex.scenarios.preview.explain import explain

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, *arguments: str, ca: Path) -> str:
    """Run an example to its end and return what it printed."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments],
        env={**os.environ, "WAREX_CA_DIR": str(ca / "ca")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    "path", sorted((EXAMPLES / "scenarios").iterdir()), ids=lambda path: path.name
)
def test_every_example_scenario_can_be_said_in_words(path: Path) -> None:
    scenario = load_scenario(str(path))

    assert scenario.rules
    assert all(rule.name in explain(scenario) for rule in scenario.rules)


def test_every_example_is_run_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")

    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in text] == []


@pytest.mark.wire
def test_a_proxy_from_python_hits_once_and_shows_its_ledger(tmp_path: Path) -> None:
    text = run("proxy_with_requests.py", ca=tmp_path)

    assert [line.split() for line in text.splitlines()] == [
        ["first", "answer:", "500"],
        ["second", "answer:", "200"],
        ["ledger:", "fault_planned", "i1", "by", "server-error"],
        ["ledger:", "fault_delivered", "i1", "by", "server-error"],
    ]


@pytest.mark.slow
@pytest.mark.wire
def test_a_client_that_tries_again_gets_through_an_interception(tmp_path: Path) -> None:
    text = run("intercept_a_client.py", ca=tmp_path)

    assert [line.split() for line in text.splitlines()] == [
        ["tries", "1:", "gave", "up"],
        ["ledger:", "http_error", "into", "http://shop.example/", "delivered"],
        ["tries", "2:", "<h1>Open</h1>"],
        ["ledger:", "http_error", "into", "http://shop.example/", "delivered"],
    ]


def test_a_trace_is_read(tmp_path: Path) -> None:
    at = '"schema_version":1,"t":0.0,"at":"2026-01-01T00:00:00.000+00:00"'
    url = "https://shop.example/"
    lines = (
        f'{{"seq":1,{at},"event":"request","exchange":"x1","method":"GET","url":"{url}",'
        '"resource":"document","http_version":"HTTP/2.0","connection":"c1","headers":[],"size":0}',
        f'{{"seq":2,{at},"event":"fault_planned","injection":"i1","exchange":"x1","rule":"r",'
        f'"fault":{{"kind":"http_error"}},"stage":"request","scope":"","ordinal":1,"effects":[],'
        f'"url":"{url}"}}',
    )
    (tmp_path / "events.jsonl").write_text("\n".join(lines) + "\n")
    text = run("read_a_trace.py", str(tmp_path), ca=tmp_path)

    assert "requests:  1 document" in text
    assert f"injection: http_error into {url}: missed" in text
    assert "model:     0 calls" in text


@pytest.mark.slow
@pytest.mark.browser
def test_one_trial_is_solved_in_spite_of_its_fault(tmp_path: Path) -> None:
    text = run("run_one_trial.py", ca=tmp_path)

    assert "faults:  1 delivered" in text
    assert "score=1.0" in text


def test_the_workflow_runs_commands_that_there_are() -> None:
    workflow = yaml.safe_load((EXAMPLES / "ci/github-actions.yml").read_text("utf-8"))
    lines = [
        line.strip()
        for step in workflow["jobs"]["warex"]["steps"]
        for line in step.get("run", "").splitlines()
    ]
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("warex ")]

    assert [command[0] for command in commands] == ["doctor", "run", "compare"]
    for name, *arguments in commands:
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        command.make_context(name, arguments)
        options = {word for word in arguments if word.startswith("--")}
        assert options <= {option for each in command.params for option in each.opts}


def test_the_campaign_for_ci_has_the_tasks_that_its_gates_take(tmp_path: Path) -> None:
    campaign = tomllib.loads((EXAMPLES / "ci/campaign.toml").read_text("utf-8"))
    (gate,) = set(
        re.findall(
            r'--fail-under "(.+?)"',
            (EXAMPLES / "ci/github-actions.yml").read_text("utf-8")
            + (EXAMPLES / "ci/gitlab-ci.yml").read_text("utf-8"),
        )
    )
    conditions = [condition["name"] for condition in campaign["conditions"]]
    runs = {}
    for name, outcome, action in (
        ("before", solved(), "reload"),
        ("after", failed(), "report_infeasible"),
    ):
        folder = RunFolder(tmp_path / name, agent="mine").manifest(conditions=conditions)
        for task, condition in product(campaign["tasks"]["names"], conditions):
            story = Story().thinks(1, "goto")
            if condition != "clean":
                story = story.fault(1).thinks(2, action)
            story = story.page("x2") if name == "before" else story
            folder.trial(condition, task, outcome, story.stops())
        runs[name] = load_run(tmp_path / name)

    collapse = judge_run(tabulate(runs["after"]), gate)
    compared = compare(ComparedAgent(runs["before"], "mine"), ComparedAgent(runs["after"], "mine"))

    assert (len(collapse.broken), collapse.unclear) == (3, ())
    assert compared.verdict == "worse"


@pytest.mark.slow
@pytest.mark.browser
def test_the_tests_of_an_agent_pass(tmp_path: Path) -> None:
    plain = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*plain, "--warex-out", str(tmp_path), str(EXAMPLES / "ci/test_my_agent.py")],
        cwd=tmp_path,
        env={**os.environ, "WAREX_CA_DIR": str(tmp_path / "ca")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout
    assert list(tmp_path.rglob("report.html"))
