import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from bench.training.experiment import SMALL, Experiment
from bench.training.verdict import ExperimentResult, Score, failed_claims, read_result, tables

from tests.analysis.builders import RunFolder, failed, solved
from tests.exports.builders import MANIFEST, failure, row
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Rate
from warex.exports.card import card
from warex.exports.dataset import UnwrittenDataset, write_dataset
from warex.exports.rows import Row
from warex.report.html.page import write_report


def score(recovered: int, agreed: int = 20, of: int = 64, false: int = 0) -> Score:
    nothing = Rate(0, 0)
    return Score(Rate(recovered, of), nothing, nothing, Rate(agreed, 64), nothing, Rate(false, 64))


def result(**scores: Score) -> ExperimentResult:
    by_name = {name.replace("_", "-"): it for name, it in scores.items()}
    return ExperimentResult(by_name, score(0), {}, {}, [], {})


def write_answers(folder: Path, lines: Sequence[Mapping[str, object]]) -> None:
    folder.mkdir()
    (folder / "answers.jsonl").write_text("\n".join(map(json.dumps, lines)))


def write_ranker_answers(folder: Path, asked: Row, label: str) -> None:
    write_dataset(folder / "all-steps", UnwrittenDataset(MANIFEST, {"test": [asked]}), card)
    answer = {"model": "ranker", "row": asked.id, "class": label, "same_kind": True}
    write_answers(folder / "answers-ranker", [answer])


def test_a_rise_that_is_significant_for_each_seed_shows_what_is_claimed() -> None:
    it = result(base=score(0), stage_one=score(2), tuned_0=score(60), tuned_1=score(55))

    assert list(failed_claims(it)) == []


@pytest.mark.parametrize(
    ("tuned", "said"),
    [
        ({"tuned_0": score(4)}, "tuned-0 does not recover more often than stage-one: 4/64"),
        ({"tuned_0": score(30, of=30)}, "tuned-0 was asked 30 held-out failures, not 60"),
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
def test_what_does_not_hold_is_said(tuned: Mapping[str, Score], said: str) -> None:
    it = result(base=score(0), stage_one=score(2), **tuned)

    assert said in list(failed_claims(it))


def test_what_the_live_agent_came_to_is_what_its_run_says(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run-live-base").manifest()
    for condition, outcome in (("clean", solved()), ("http-error", failed())):
        run.trial(condition, "shop-a", outcome)
    write_report(load_run(run.path))
    write_answers(tmp_path / "answers-failures", [])
    write_ranker_answers(tmp_path, failure("f1"), "recovery")
    write_dataset(tmp_path / "failures", UnwrittenDataset(MANIFEST, {"test": []}), card)

    live = read_result(Experiment(tmp_path, SMALL, "model.gguf")).live

    assert [(it["condition"], it["solved"], it["recovered"]) for it in live] == [
        ("clean", "1/1", "—"),
        ("http-error", "0/1", "—"),
    ]


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
    write_ranker_answers(tmp_path, rows[0], "recovery")
    (tmp_path / "stage-one.done").write_text("600.0")

    it = read_result(Experiment(tmp_path, SMALL, "model.gguf"))

    assert list(it.scores) == ["base", "stage-one", "tuned-0"]
    tuned = it.scores["tuned-0"]
    assert (tuned.recovery, tuned.on_brands, tuned.on_kind) == (Rate(2, 2), Rate(1, 1), Rate(1, 1))
    assert tuned.false_reloads == Rate(1, 1)
    assert it.scores["stage-one"].agreement == Rate(1, 1)
    assert it.ranker.recovery == Rate(1, 1)
    assert it.acts["base"] == Rate(2, 3)
    page = tables(it)
    assert "| tuned-0 | 2/2 " in page
    assert "10 minutes: stage-one 600 s." in page
