from pathlib import Path

from tests.analysis.builders import RunFolder, Story
from tests.report.builders import mean, row, run, table
from warex.analysis.metrics.row import ConditionRow
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Rate
from warex.analysis.stats.paired import Delta, Power
from warex.analysis.table.tabulate import tabulate
from warex.report.text.overview import MOST_ROWS, chosen_rows, summaries, warnings
from warex.traces import Void

FALL = Delta(-0.5, 10, (-0.7, -0.3), 0.0001, 0.0004, "mcnemar", lost=5)
OPEN = Delta(-0.1, 10, (-0.3, 0.1), 0.5, 1.0, "mcnemar", lost=2, won=1)
UNCHANGED = Delta(0.0, 10, (-0.02, 0.02), 1.0, 1.0, "mcnemar")


def _sentences(*rows: ConditionRow, **more: object) -> dict[str, str]:
    (summary,) = summaries(run(*rows), table(*rows, **more))
    return dict(summary.lines)


def test_success_says_what_was_seen_and_what_each_fault_shows() -> None:
    rows = [row("clean", 9, 10, cost_usd=mean(0.01))]
    rows += [row(name, 4, 10, delta=d) for name, d in (("a", FALL), ("b", OPEN), ("c", UNCHANGED))]

    assert _sentences(*rows)["success"] == (
        "9/10 under clean; on tasks like these: falls under a; unchanged under c; inconclusive: b."
    )


def test_where_nothing_is_shown_the_smallest_detectable_drop_is_reported() -> None:
    rows = [row("clean", 9, 10), row("a", 8, 10, delta=OPEN), row("b", 8, 10, delta=OPEN)]
    power = Power(10, 0.62, 0.025, 0.1, True)

    assert _sentences(*rows, power=(("patient", power),))["success"] == (
        "9/10 under clean; on tasks like these: inconclusive: all 2 faults (10 tasks detect a drop"
        " of 62 points or more)."
    )


def test_these_very_tasks_are_another_question_than_tasks_like_these() -> None:
    alone = Delta(-0.4, 30, (-0.8, 0.1), 0.1, 0.2, "clustered", p_these=0.001, p_these_holm=0.002)
    rows = [row("clean", 30, 30), row("a", 18, 30, delta=alone), row("b", 18, 30, delta=OPEN)]

    assert _sentences(*rows)["success"].endswith(
        "on tasks like these: inconclusive: all 2 faults; on these very tasks falls under a."
    )


def test_tasks_lost_recovery_and_cost_are_summed_over_the_faults() -> None:
    rows = [
        row("clean", 9, 10, cost_usd=mean(0.01)),
        row("a", 4, 10, delta=FALL, recovery=Rate(2, 9), cost_usd=mean(0.002)),
        row("b", 8, 10, delta=OPEN, recovery=Rate(8, 8), cost_usd=mean(0.03)),
    ]
    answer = _sentences(*rows)

    assert answer["tasks lost"] == (
        "7 of 20 trials under faults failed a task solved under clean; 1 solved one that clean"
        " failed."
    )
    assert answer["recovered"] == "10 of 17 trials that had to recover from a fault did so."
    assert answer["cost"] == "$0.0100 a trial under clean, $0.0020 to $0.0300 under faults."


def test_what_is_not_known_is_named_and_is_not_zero() -> None:
    answer = _sentences(row("clean", 9, 10), row("a", 4, 10))

    assert answer["tasks lost"].startswith("not known")
    assert answer["recovered"].startswith("not known")
    assert answer["cost"].startswith("not known")
    assert _sentences(row("clean", 0, 0), row("a", 0, 0)) == {"success": "no trial was scored."}


def test_a_run_without_clean_says_what_is_missing() -> None:
    assert _sentences(row("a", 4, 10))["success"] == (
        "4/10 under a; without clean what faults change is not known."
    )


def test_a_run_without_faults_has_one_sentence() -> None:
    assert _sentences(row("clean", 4, 10)) == {"success": "4/10 under clean; no fault was tried."}


def test_among_many_rows_those_with_the_greatest_loss_are_shown() -> None:
    rows = [row("no-proxy", 9, 10), row("clean", 9, 10)]
    rows += [
        row(f"c{n:02}", 4, 10, delta=Delta(-n / 100, 10, (-1, 0), 0.5, 0.5)) for n in range(20)
    ]
    shown, more = chosen_rows(run(*rows), table(*rows))

    assert len(shown) == MOST_ROWS
    assert shown[0].condition == "clean"
    assert [each.condition for each in shown[1:]] == [f"c{n:02}" for n in range(9, 20)]
    assert more == 21 - MOST_ROWS


def test_a_fault_that_hardly_reached_anybody_heads_the_screen() -> None:
    rows = [row("clean", 9, 10), row("a", 9, 10, delta=OPEN, exposure=Rate(2, 10))]

    assert warnings(run(*rows), table(*rows)) == (
        "Hardly measured, since a fault reached fewer than half of the trials: patient, a (2/10).",
    )


def test_the_usual_reason_of_void_attempts_is_given(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    for task, reason in (
        ("a", "the\x1bsite is down"),
        ("b", "the\x1bsite is down"),
        ("c", "no disk"),
    ):
        folder.trial("clean", task, Void(reason=reason), Story())
    loaded = load_run(tmp_path)

    assert warnings(loaded, tabulate(loaded)) == (
        "No trial counts, so there are no results.",
        "2 of 3 void attempts: the␛site is down",
    )


def test_trials_that_stayed_void_are_reported_at_once() -> None:
    rows = [row("clean", 9, 10)]
    out = tuple(("patient", "clean", ("testbed", task, 1)) for task in "tu")

    assert warnings(run(*rows), table(*rows, left_out=out)) == (
        "2 trials stayed void; they do not count.",
    )
    assert warnings(run(row("a", 0, 0)), table(row("a", 0, 0))) == (
        "No trial counts, so there are no results.",
    )
