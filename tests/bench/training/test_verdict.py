import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from bench.training.experiment import SMALL, Experiment
from bench.training.live import LiveTrial, live_rise
from bench.training.steps import Duration
from bench.training.verdict import (
    ExperimentResult,
    Score,
    failed_claims,
    goals,
    read_result,
    tables,
)

from tests.analysis.builders import RunFolder, failed, solved
from tests.exports.builders import MANIFEST, failure, row
from warex.analysis.stats.estimates import Rate
from warex.exports.card import card
from warex.exports.dataset import UnwrittenDataset, write_dataset
from warex.exports.rows import Row
from warex.training.evaluation.hard_test import read_hard_test


def score(recovered: int, agreed: int = 20, of: int = 64, false: int = 0) -> Score:
    nothing = Rate(0, 0)
    return Score(Rate(recovered, of), nothing, nothing, Rate(agreed, 64), nothing, Rate(false, 64))


def result(
    rankers: Mapping[str, Score] | None = None,
    live: Mapping[str, Sequence[LiveTrial]] | None = None,
    **scores: Score,
) -> ExperimentResult:
    by_name = {name.replace("_", "-"): it for name, it in scores.items()}
    return ExperimentResult(by_name, rankers or {}, {}, {}, {}, {}, {}, live or {}, {})


def write_answers(folder: Path, lines: Sequence[Mapping[str, object]]) -> None:
    folder.mkdir()
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / "table.md").write_text("| baseline |\n\nThis test is separable.\n\n| task |\n")


def write_ranker_answers(folder: Path, asked: Row, label: str) -> None:
    write_dataset(folder / "all-steps", UnwrittenDataset(MANIFEST, {"test": [asked]}), card)
    pair = read_hard_test().rows("test")[0]
    for name in ("ranker-clean", "ranker-0"):
        answer = {"model": name, "row": asked.id, "class": label, "same_kind": True}
        write_answers(folder / f"answers-{name}", [answer])
        write_answers(folder / f"answers-hard-{name}", [{**answer, "row": pair.id}])


def test_a_rise_that_is_significant_for_each_seed_shows_what_is_claimed() -> None:
    it = result(base=score(0), stage_one=score(2), tuned_0=score(60), tuned_1=score(55))

    assert list(failed_claims(it)) == []


@pytest.mark.parametrize(
    ("tuned", "text"),
    [
        ({"tuned_0": score(4)}, "tuned-0 does not recover more often than stage-one: 4/64"),
        ({"tuned_0": score(20, of=20)}, "tuned-0 was asked 20 held-out failures, not 30"),
        (
            {"tuned_0": score(60, agreed=18), "tuned_1": score(60, agreed=14)},
            "agreement on clean steps falls by 6.2 points",
        ),
        (
            {"tuned_0": score(60, false=58)},
            "tuned-0 loads a page again where nothing failed (58/64 (81-96%)) as often as where"
            " something did (60/64 (85-98%))",
        ),
    ],
)
def test_what_does_not_hold_is_reported(tuned: Mapping[str, Score], text: str) -> None:
    it = result(None, None, base=score(0), stage_one=score(2), **tuned)

    assert text in list(failed_claims(it))


def trials(solved: int, of: int, condition: str = "http-error") -> list[LiveTrial]:
    return [LiveTrial(f"task-{number}", condition, number < solved) for number in range(of)]


def test_goals_that_are_not_reached_are_named() -> None:
    rankers = {"ranker-clean": score(0), "ranker-0": score(64, 20), "ranker-1": score(60, 10)}
    live = {
        "ranker-clean": [*trials(0, 12), *trials(3, 12, "clean")],
        "ranker-0": trials(2, 12),
        "ranker-1": trials(2, 12),
    }

    results = {text.partition(" (")[0]: yes for yes, text in goals(result(rankers, live))}

    assert results == {
        "rankers: recovery of each at least 90%": True,
        "rankers: false reloads of each at most 5%": True,
        "rankers: agreement on clean steps not lower": False,
        "rankers: live success under faults rises significantly": False,
    }
    assert "NOT REACHED: rankers: agreement" in tables(result(rankers, live))


def test_live_success_rises_where_tasks_of_all_seeds_do() -> None:
    rise = live_rise([*trials(0, 12), *trials(12, 12, "clean")], [trials(6, 12), trials(6, 12)])

    assert (rise.before, rise.after, rise.tasks) == (0, 0.5, 12)
    assert (rise.risen, rise.fallen) == (6, 0)
    assert rise.p == pytest.approx(2**-6)
    assert live_rise(trials(0, 12), [trials(0, 12)]).p == 1


def test_what_the_live_agent_came_to_is_what_its_run_says(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run-live-ranker-0").manifest()
    for condition, outcome in (("clean", solved()), ("http-error", failed())):
        run.trial(condition, "shop-a", outcome)
    write_ranker_answers(tmp_path, failure("f1"), "recovery")

    live = read_result(Experiment(tmp_path, SMALL)).live

    assert live == {
        "ranker-0": [LiveTrial("shop-a", "clean", True), LiveTrial("shop-a", "http-error", False)]
    }


def test_answers_are_counted_by_model_and_by_what_was_unseen(tmp_path: Path) -> None:
    rows = [
        failure("f1", site="planner.warex.test"),
        failure("f2", site="forum.warex.test"),
        row("c1", site="forum.warex.test"),
    ]
    write_dataset(tmp_path / "failures", UnwrittenDataset(MANIFEST, {"test": rows}), card)
    answers_by_model = {
        "model.gguf": ("text", "other_action", "other_action"),
        f"{tmp_path}/stage-one": ("text", "recovery", "agreement"),
        f"{tmp_path}/tuned-0": ("recovery", "recovery", "false_reload"),
    }
    lines = [
        {"model": model, "row": one.id, "class": name, "same_kind": name == "agreement"}
        for model, classes in answers_by_model.items()
        for one, name in zip(rows, classes, strict=True)
    ]
    write_answers(tmp_path / "answers-failures", lines)
    write_answers(tmp_path / "answers-legal", lines[-3:])
    pair = read_hard_test().rows("test")[0]
    write_answers(tmp_path / "answers-hard", [{**lines[0], "row": pair.id}])
    write_ranker_answers(tmp_path, rows[0], "recovery")
    Duration(600, 1200).write(tmp_path / "stage-one.done")

    it = read_result(Experiment(tmp_path, SMALL, "model.gguf"))

    assert list(it.scores) == ["base", "stage-one", "tuned-0"]
    tuned = it.scores["tuned-0"]
    assert (tuned.recovery, tuned.on_brands, tuned.on_kind) == (Rate(2, 2), Rate(1, 1), Rate(1, 1))
    assert tuned.false_reloads == Rate(1, 1)
    assert it.scores["stage-one"].agreement == Rate(1, 1)
    assert it.rankers["ranker-0"].recovery == it.beside["ranker-0"].recovery == Rate(1, 1)
    assert list(it.hard) == ["base", "ranker-clean", "ranker-0"]
    assert it.acts["base"] == Rate(2, 3)
    page = tables(it)
    assert "the same 2 failures and 1 clean steps for each model, of 2 sites" in page
    assert "| tuned-0 | 2/2 " in page
    assert "| tuned-0, legal | 2/2 " in page
    assert "10 minutes, 20 minutes of processor time: stage-one 600 s (1200 s)." in page
