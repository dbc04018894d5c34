import json
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from queue import Queue

import pytest

from tests.traces.test_manifest import MANIFEST
from warex.campaigns.config.campaign import load_campaign
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan, plan
from warex.campaigns.run.schedule import AttemptDone, PlannedAttempt
from warex.cli.campaigns import live_display
from warex.cli.options.parameters import Printed
from warex.cli.output import console
from warex.cli.progress.tracker import ProgressTracker
from warex.errors import WarexError
from warex.traces import (
    Counted,
    Outcome,
    TrialKey,
    Unscored,
    Void,
    attempt_dir,
    write_manifest,
    write_outcome,
)

SOLVED = Counted(ending="answered", score=1.0, latency_s=1.25)
FAILED = Counted(ending="reported_infeasible", score=0.0, latency_s=2.5)
VOID = Void(reason="the canary page did not come back")

type Run = Callable[..., Path]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the demo as if its first trials had come out so; return the run's folder."""
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "ca"))
    folder = tmp_path / "run"

    def run(outcomes: Sequence[Outcome], **how: bool) -> Path:
        def run_campaign(
            planned: CampaignPlan,
            run: Path,
            options: RunOptions,
            *,
            began: Callable[[int], None],
            taken: Callable[[PlannedAttempt], None],
            report: Callable[[AttemptDone], None],
            notice: Callable[[str], None],
        ) -> None:
            began(len(outcomes))
            for spec, outcome in zip(planned.trials, outcomes, strict=False):
                attempt = attempt_dir(run, spec.key, 1)
                attempt.mkdir(parents=True)
                taken(PlannedAttempt(spec.key, 1))
                write_outcome(attempt, outcome)
                report(AttemptDone(spec.key, 1, outcome))

        monkeypatch.setattr(live_display, "run_campaign", run_campaign)
        live_display.run_and_report(
            plan(load_campaign("demo")), folder, RunOptions(), printed=Printed(**how)
        )
        return folder

    return run


def test_every_attempt_has_its_line_and_the_run_its_report(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = run([SOLVED, FAILED, VOID])
    printed = capsys.readouterr()

    first, second, third = printed.err.splitlines()
    assert first.startswith("solved ")
    assert first.endswith("  the agent answered, 1.2 s")
    assert second.startswith("failed ")
    assert second.endswith("  the agent reported the task as infeasible, 2.5 s")
    assert third.startswith("void ")
    assert third.endswith("attempt 1: the canary page did not come back")
    assert (folder / "report.html").is_file()
    assert f"report   {folder / 'report.html'}" in printed.out
    assert "answered, 1.2 s" not in printed.out


def test_a_reason_that_comes_again_is_counted_not_repeated(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    reasons = [f"no model answers on port {port}" for port in (4001, 4002)]
    run([SOLVED, *(Void(reason=it) for it in reasons), VOID])

    _, first, second, other = capsys.readouterr().err.splitlines()
    assert first.endswith("attempt 1: no model answers on port 4001")
    assert second.endswith("attempt 1: as before (2 times)")
    assert other.endswith("attempt 1: the canary page did not come back")


def test_a_campaign_in_which_nothing_counts_has_failed(run: Run, tmp_path: Path) -> None:
    with pytest.raises(WarexError, match="counts: each of them is void") as error:
        run([VOID])

    assert error.value.exit_code == 1
    assert (tmp_path / "run" / "report.html").is_file()


def test_a_campaign_without_a_judge_has_not_failed(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run([Unscored(ending="answered", latency_s=1.2)])

    first = capsys.readouterr().err.splitlines()[0]
    assert first.startswith("unscored ")
    assert first.endswith("ended by itself, 1.2 s")


def test_a_terminal_shows_what_runs_and_about_how_long_the_rest_takes() -> None:
    now = [0.0]
    pace = ProgressTracker(now=lambda: now[0], total=4)
    for at, task in ((30.0, "move"), (60.0, "share")):
        key = TrialKey("b", "patient", "clean", task, 1)
        pace.attempt_started(PlannedAttempt(key, 1))
        now[0] = at
        pace.attempt_ended(key, Counted(ending="answered", score=1.0, latency_s=1.25))
    pace.attempt_started(PlannedAttempt(TrialKey("b", "patient", "server-error", "add", 1), 1))
    board = live_display._LiveDisplay(pace, console())
    board.add_task("demo", total=4, completed=2)
    screen = console()

    with screen.capture() as shown:
        for part in board.get_renderables():
            screen.print(part)

    running, bar = shown.get().splitlines()
    assert running == "running  patient / server-error / add, 0 s"
    assert re.fullmatch(r"demo [━╸╺ ]+ 2/4 0:00:0\d about 60 s left *", bar)


def test_where_there_is_no_terminal_a_line_says_so_from_time_to_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_display, "_SOONEST", 0.001)
    notices: Queue[str] = Queue()

    with live_display._periodic_notices(ProgressTracker(total=4), notices.put, terminal=False):
        assert notices.get(timeout=30).startswith("0 of 4 trials, 0 s elapsed, time left unknown")
    with live_display._periodic_notices(ProgressTracker(total=4), notices.put, terminal=True):
        assert "progress" not in {thread.name for thread in threading.enumerate()}


def test_without_a_terminal_progress_and_messages_stay_off_standard_output(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    run([SOLVED])

    assert "━" not in capsys.readouterr().out


def test_json_is_alone_on_standard_output(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    run([SOLVED, VOID], as_json=True)
    printed = capsys.readouterr()

    assert json.loads(printed.out)["conditions"]
    assert [line.split()[0] for line in printed.err.splitlines()] == ["solved", "void"]


def test_a_quiet_run_prints_only_void_trials(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run([SOLVED, VOID], quiet=True)
    printed = capsys.readouterr()

    assert printed.out == ""
    assert [line.split()[0] for line in printed.err.splitlines()] == ["void"]
    assert (folder / "report.html").is_file()


@pytest.mark.parametrize("resumed", [True, False])
def test_an_interrupted_run_says_what_is_kept_and_how_to_go_on(
    resumed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("WAREX_CA_DIR", str(tmp_path / "ca"))
    planned = plan(load_campaign("demo"))
    folder = tmp_path / "a run"

    def run_campaign(*values: object, notice: Callable[[str], None], **how: object) -> None:
        notice("something")
        write_manifest(folder / "manifest.json", MANIFEST)
        attempt = attempt_dir(folder, planned.trials[0].key, 1)
        attempt.mkdir(parents=True)
        write_outcome(attempt, SOLVED)
        raise KeyboardInterrupt

    monkeypatch.setattr(live_display, "run_campaign", run_campaign)
    typed = ("warex", "run", "demo", "--out", str(folder), *(("--resume",) if resumed else ()))
    with pytest.raises(KeyboardInterrupt):
        live_display.run_and_report(planned, folder, RunOptions(resume=resumed, command=typed))

    printed = capsys.readouterr()
    assert printed.out == ""
    reported, retained = printed.err.splitlines()
    assert reported == "warex: something"
    assert (
        f"{folder} keeps 1 of {len(planned.trials)} trials; go on with: warex run demo" in retained
    )
    assert retained.endswith(f"--out '{folder}' --resume")
