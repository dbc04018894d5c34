"""Where calls to a model could not be read, what rests on them is unknown, and that is said."""

from pathlib import Path

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.output.json_values import trial_fields
from warex.analysis.run.load import Run, load_run
from warex.analysis.table.tabulate import tabulate
from warex.analysis.trial.record import load_trial
from warex.report.text.footnotes import footnotes
from warex.traces import EVENTS
from warex.traces.events import Armed, LlmUnread, TrialBegan

MESSAGES = "https://api.anthropic.com/v1/messages"
UNREAD = LlmUnread(exchange="m1", url=f"{MESSAGES}?beta=true", reason="no such family")
RESTING = ("llm_calls", "steps", "input_tokens", "cost_usd", "recovered", "detected", "reloads")


def run_of(tmp_path: Path, **stories: Story) -> Run:
    folder = RunFolder(tmp_path / "run").manifest()
    for task, story in stories.items():
        folder.trial("server-error", task, solved(), story)
    return load_run(folder.path)


def test_one_unread_call_makes_the_trials_figures_unknown(tmp_path: Path) -> None:
    story = Story().fault(1).thinks(1, "reload").page("x2").thinks(2, "send_msg_to_user")
    run = run_of(tmp_path, tea=story.add(UNREAD).stops())
    [trial] = run.trials

    figures = trial_fields(trial, run)
    assert [figures[name] for name in RESTING] == [None] * len(RESTING)
    assert (figures["llm_unread"], figures["llm_unread_first"]) == (
        1,
        f"{MESSAGES}: no such family",
    )
    [row] = [row for row in tabulate(run).rows if row.condition == "server-error"]
    assert (row.llm_calls, row.cost_usd, row.recovery) == (None, None, None)
    assert row.delivered == 1
    [messages] = [line for line in footnotes(run, tabulate(run)) if "could not be read" in line]
    assert f"in 1 trial could not be read (first: {MESSAGES}: no such family)" in messages


def test_the_cost_of_an_agent_without_calls_is_unknown(tmp_path: Path) -> None:
    run = run_of(tmp_path, tea=Story().fault(1).page("x2").stops())
    [trial] = run.trials

    assert (trial.llm, trial.recovered, trial.detected, trial.false_success) == (
        None,
        None,
        None,
        False,
    )
    assert any("No call of" in line for line in footnotes(run, tabulate(run)))


def test_a_trial_without_calls_of_an_agent_that_has_some_cost_nothing(tmp_path: Path) -> None:
    asked = Story().page("x1").thinks(1, "send_msg_to_user").stops()
    run = run_of(tmp_path, tea=asked, toast=Story().page("x1").stops())

    assert [trial_fields(trial, run)["llm_calls"] for trial in run.trials] == [1, 0]


def test_a_claim_that_was_not_read_is_unknown(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").manifest()
    folder.trial("server-error", "tea", failed(), Story().fault(1).add(UNREAD).stops())
    [trial] = load_run(folder.path).trials

    assert trial.false_success is None


def test_a_scenario_that_was_never_armed_is_reported(tmp_path: Path) -> None:
    began = TrialBegan(condition="later", scenario={"name": "later"}, arm="first_llm_call")
    for name, armed in (("never", []), ("once", [Armed(by="first_llm_call")])):
        (tmp_path / name).mkdir()
        story = Story().add(began).add(UNREAD)
        for event in armed:
            story.add(event)
        story.write(tmp_path / name / EVENTS)

    assert load_trial(tmp_path / "never").never_armed == "first_llm_call"
    assert load_trial(tmp_path / "once").never_armed is None


def test_a_fault_before_its_page_is_not_reported_as_never_armed(tmp_path: Path) -> None:
    began = TrialBegan(condition="dead", scenario={"name": "dead"}, arm="first_page")
    Story().add(began).planned("i1", "a1", point="connect").write(tmp_path / EVENTS)

    assert load_trial(tmp_path).never_armed is None
