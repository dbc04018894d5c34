"""A small campaign from its file to its table: the instrument does what it says."""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from warex.analysis.run.load import Run, load_run
from warex.analysis.table.tabulate import tabulate
from warex.analysis.trial.record import TrialRecord
from warex.campaigns.config.campaign import CampaignConfig
from warex.campaigns.config.customization import Overrides, customize
from warex.campaigns.config.options import RunOptions
from warex.campaigns.config.task_choice import TaskChoice
from warex.campaigns.plan.campaign_plan import CampaignPlan, plan, plan_replay
from warex.campaigns.run_campaign import run_campaign
from warex.exports.run_formats.paper_log import paper_logs
from warex.report.tables.paper import paper_sheet
from warex.traces import EVENTS, FaultPlanned, read_outcome, read_trace

pytestmark = pytest.mark.slow

NEEDS_SCRIPTS = "calendar-create-coffee"
TASKS = ["calendar-friday-evening", NEEDS_SCRIPTS]
FAULTED = {
    "network-error": "paper/network-error",
    "server-error": "paper/server-error",
    "javascript-failure": "paper/javascript",
}
CONDITIONS = [{"name": "no-proxy"}, {"name": "clean"}] + [
    {"name": name, "scenario": scenario} for name, scenario in FAULTED.items()
]


def config(tasks: list[str], conditions: list[dict[str, str]], *agents: str) -> CampaignConfig:
    return CampaignConfig.model_validate(
        {
            "name": "small",
            "tasks": {"names": tasks},
            "timeout_s": 120,
            "longest_hold_s": 0.5,
            "agents": [{"name": name, "model": f"scripted:{name}"} for name in agents],
            "conditions": conditions,
        }
    )


def run_of(planned: CampaignPlan, folder: Path) -> Run:
    run_campaign(planned, folder, RunOptions(jobs=2))
    return load_run(folder)


@pytest.fixture(scope="module", autouse=True)
def _own_authority(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["WAREX_CA_DIR"] = str(tmp_path_factory.mktemp("authority") / "ca")


@pytest.fixture(scope="module")
def campaign() -> CampaignConfig:
    return config(TASKS, CONDITIONS, "giveup", "patient")


@pytest.fixture(scope="module")
def run(campaign: CampaignConfig, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_of(plan(campaign), tmp_path_factory.mktemp("campaign") / "run")


def places(trial: TrialRecord) -> list[tuple[str, str, int, str]]:
    planned = read_trace(trial.path / EVENTS).events(FaultPlanned)
    return [(p.rule, p.scope, p.ordinal, str(p.fault.get("kind"))) for p in planned]


def of(run: Run, agent: str, condition: str) -> list[TrialRecord]:
    trials = [t for t in run.trials if (t.key.agent, t.key.condition) == (agent, condition)]
    assert trials
    return trials


def test_every_trial_counts(run: Run) -> None:
    assert len(run.trials) == 2 * 2 * 5
    assert [t.path for t in run.trials if t.solved is None] == []


@pytest.mark.parametrize("agent", ["giveup", "patient"])
@pytest.mark.parametrize("condition", ["no-proxy", "clean"])
def test_without_faults_both_solve_everything(run: Run, agent: str, condition: str) -> None:
    assert str(tabulate(run).row(agent, condition).success) == "2/2"


@pytest.mark.parametrize("condition", ["network-error", "server-error"])
def test_giveup_loses_and_patient_recovers(run: Run, condition: str) -> None:
    table = tabulate(run)

    lost, won = table.row("giveup", condition), table.row("patient", condition)

    assert (str(lost.success), str(lost.recovery), str(lost.exposure)) == ("0/2", "0/2", "2/2")
    assert (str(won.success), str(won.recovery), str(won.exposure)) == ("2/2", "2/2", "2/2")
    assert lost.delta is not None
    assert lost.delta.value == -1


def test_what_was_planned_was_delivered(run: Run) -> None:
    for agent in ("giveup", "patient"):
        for condition in ("network-error", "server-error"):
            for trial in of(run, agent, condition):
                assert [injection.fate for injection in trial.injections] == ["delivered"]


def test_scripts_fail_the_task_that_needs_them(run: Run) -> None:
    by_task = {t.key.task: t.solved for t in of(run, "giveup", "javascript-failure")}

    assert by_task == {"calendar-friday-evening": True, NEEDS_SCRIPTS: False}


def test_every_proxied_trial_shows_its_canary_and_its_model_calls(run: Run) -> None:
    for trial in run.trials:
        if trial.key.condition == "no-proxy":
            assert (trial.canary, trial.llm) == (None, None)
            continue
        assert trial.canary is True
        assert trial.llm is not None
        assert len(trial.llm.calls) >= 1
        assert trial.llm.input_tokens
        assert trial.llm.output_tokens


def test_a_seed_repeats_injections_and_a_replay_their_places(
    run: Run, campaign: CampaignConfig, tmp_path: Path
) -> None:
    conditions = [each for each in CONDITIONS if each["name"] in ("server-error", "network-error")]
    again = run_of(plan(config(TASKS[:1], conditions, "giveup")), tmp_path / "again")

    for trial in again.trials:
        (first,) = [t for t in run.trials if t.key == trial.key]
        assert first.seed == trial.seed
        assert places(first) == places(trial) != []

    (original,) = [
        t for t in of(run, "giveup", "server-error") if t.key.task == "calendar-friday-evening"
    ]
    replayed = run_of(plan_replay(campaign, original.path), tmp_path / "replay")
    assert [t.key.agent for t in replayed.trials] == ["giveup", "patient"]
    for trial in replayed.trials:
        assert places(trial) == places(original)
    assert [t.solved for t in replayed.trials] == [False, True]


CAMPAIGN = """
name = "killed"
tasks = { names = ["calendar-friday-evening"] }
jobs = 1
longest_hold_s = 0.5
[[agents]]
name = "patient"
model = "scripted:patient"
[[conditions]]
name = "clean"
[[conditions]]
name = "server-error"
scenario = "paper/server-error"
"""


def children_of(pid: int) -> set[int]:
    """Return all processes that descend from one."""
    result: set[int] = set()
    ahead = [pid]
    while ahead:
        for task in Path(f"/proc/{ahead.pop()}/task").glob("*/children"):
            new = {int(child) for child in task.read_text().split()} - result
            result |= new
            ahead += new
    return result


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of others' ends")
def test_a_campaign_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    file, out = tmp_path / "killed.toml", tmp_path / "run"
    file.write_text(CAMPAIGN)
    command = [sys.executable, "-m", "warex.cli", "run", str(file), "--out", str(out)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as campaign:
        assert campaign.stdout is not None
        # A line for each attempt that is over: this is the first trial's.
        output = next((line for line in campaign.stdout if line.startswith("solved")), None)
        assert output is not None
        # The second trial runs by the time that its trace is there.
        second = out / "trials/testbed/patient/server-error/calendar-friday-evening/1/attempt-1"
        while not (second / "agent.log").exists():
            assert campaign.poll() is None
            select.select([], [], [], 0.02)
        left = [os.pidfd_open(pid) for pid in children_of(campaign.pid)]
        campaign.send_signal(signal.SIGKILL)
    assert left
    for process in left:
        assert select.select([process], [], [], 30)[0], "it outlived its campaign"
        os.close(process)
    (done,) = out.rglob("outcome.json")
    before = {path: path.read_bytes() for path in done.parent.rglob("*") if path.is_file()}
    cut_off = (second / EVENTS).read_bytes()

    subprocess.run([*command, "--resume"], check=True, capture_output=True, timeout=120)

    assert {path: path.read_bytes() for path in before} == before
    assert (second / EVENTS).read_bytes() == cut_off
    assert read_outcome(second) is None
    assert [t.solved for t in load_run(out).trials] == [True, True]
    assert {t.attempt for t in load_run(out).trials} == {1, 2}


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of others' ends")
def test_an_interrupted_campaign_leaves_nothing_running(tmp_path: Path) -> None:
    file, out = tmp_path / "killed.toml", tmp_path / "run"
    file.write_text(CAMPAIGN)
    command = [sys.executable, "-m", "warex.cli", "run", str(file), "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as campaign:
        while not list(out.rglob("agent.log")):
            assert campaign.poll() is None
            select.select([], [], [], 0.02)
        left = [os.pidfd_open(pid) for pid in children_of(campaign.pid)]
        campaign.send_signal(signal.SIGINT)
        assert campaign.stderr is not None
        assert b"Traceback" not in campaign.stderr.read()
        assert campaign.wait(30) == 130
    for process in left:
        assert select.select([process], [], [], 5)[0], "it outlived its campaign"
        os.close(process)
    assert not list(out.rglob("outcome.json"))


def test_the_papers_conditions_make_the_papers_table(tmp_path: Path) -> None:
    changes = Overrides(agents=("suggestible=scripted:suggestible",))
    paper = customize("paper", changes, file="paper.toml").config("paper.toml")
    tasks = TaskChoice(names=("calendar-friday-evening",))
    short = {"tasks": tasks, "longest_hold_s": 0.5, "repeats": 1}

    run = run_of(plan(paper.model_copy(update=short)), tmp_path / "paper")

    (block,) = paper_sheet([(run, tabulate(run))]).blocks
    assert block.agent == "testbed, suggestible"
    # It reloads where the prompt tells it to, and only there.
    assert [(line[0].text, line[1].text, line[6].text) for line in block.lines] == [
        ("No Proxy", "1.000", "—"),
        ("Proxy - No Fault", "1.000", "—"),
        ("Network Error", "0.000", "-100"),
        ("Network Error - Fixed", "1.000", "+0"),
        ("Server Error", "0.000", "-100"),
        ("Server Error - Fixed", "1.000", "+0"),
        ("JavaScript Delay", "1.000", "+0"),
    ]
    logs = list(paper_logs(tmp_path / "paper"))
    assert len(logs) == 7
    assert sum("Refresh the page when you encounter" in log for log in logs) == 2
