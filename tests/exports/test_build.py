from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, failed, solved
from tests.exports.runs import GOALS, clean, losing, recovering, several_sites
from warex.analysis.run.load import load_run
from warex.errors import InputError
from warex.exports.build import DatasetRequest, build
from warex.exports.splits import SplitPlan

BY_SITE = SplitPlan(by=("site",), shares=(1, 1, 1))


@pytest.fixture(autouse=True)
def _no_rules_on_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave scikit-learn out, whose import takes seconds."""
    monkeypatch.setattr("warex.exports.separability.can_count_words", lambda: False)


def test_each_side_has_its_own_site_and_as_many_clean_as_failures(tmp_path: Path) -> None:
    draft = build([several_sites(tmp_path / "run")], DatasetRequest(plan=BY_SITE))

    for rows in draft.splits.values():
        assert len({row.site for row in rows}) == 1
        assert sorted(row.kind for row in rows) == ["clean", "failure"]
    assert draft.manifest.left_out["lost"] == 3
    assert draft.manifest.sources == ("demo",)
    assert {it.held_out for it in draft.manifest.separability} == {"site"}


def test_clean_steps_alone_hold_out_the_same_sites_as_both_kinds(tmp_path: Path) -> None:
    sites = ("shop", "mail", "forum")
    for seed in range(3):
        run = several_sites(tmp_path / f"run-{seed}", sites)
        plan = SplitPlan(by=("site",), shares=(1, 1, 1), seed=seed)
        alone = DatasetRequest(
            plan=plan, only="clean", conditions=("clean",), clean_per_failure=None
        )
        both, clean = (build([run], it).splits for it in (DatasetRequest(plan=plan), alone))
        for side in ("validation", "test"):
            assert {row.site for row in clean[side]} == {row.site for row in both[side]}


def test_without_a_split_all_is_for_training(tmp_path: Path) -> None:
    request = DatasetRequest(plan=None, clean_per_failure=None)

    assert list(build([several_sites(tmp_path / "run")], request).splits) == ["train"]


def test_agents_and_conditions_can_be_chosen(tmp_path: Path) -> None:
    run = several_sites(tmp_path / "run")
    request = DatasetRequest(plan=None, only="clean", conditions=("clean",))

    assert {it.condition for it in build([run], request).splits["train"]} == {"clean"}
    with pytest.raises(InputError, match="has no agent 'x'; it has giveup, patient"):
        build([run], DatasetRequest(agents=("x",)))


def test_runs_that_teach_one_kind_alone_are_refused_with_what_helps(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "clean").manifest()
    folder.trial("clean", "shop-1", solved(), clean())
    with pytest.raises(InputError, match="no step after a fault that teaches something"):
        build([load_run(folder.path)], DatasetRequest())

    folder = RunFolder(tmp_path / "lost").manifest()
    folder.trial("server-error", "shop-1", failed(), losing())
    with pytest.raises(InputError, match="no step after a fault"):
        build([load_run(folder.path)], DatasetRequest())


def test_failures_without_enough_clean_steps_beside_them_are_counted(tmp_path: Path) -> None:
    run = several_sites(tmp_path / "run")

    draft = build([run], DatasetRequest(plan=None, clean_per_failure=6.0))
    enough = build([run], DatasetRequest(plan=None, clean_per_failure=1.0))

    counts = [row.kind for row in draft.splits["train"]]
    why = "a failure, as there are too few clean steps for --clean-per-failure"
    assert draft.manifest.left_out[why] == 3 - counts.count("failure") > 0
    assert why not in enough.manifest.left_out


def test_a_leak_ends_the_export(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").manifest()
    for number, goal in enumerate(GOALS):
        folder.trial("clean", f"shop-{number}", solved(), clean(goal))
        folder.trial("server-error", f"shop-{number}", solved(), recovering(goal))
    run = load_run(folder.path)
    plan = SplitPlan(by=("task",), shares=(1, 1, 1))

    with pytest.raises(InputError, match=r"the site shop\.example .*--allow-leak site"):
        build([run], DatasetRequest(plan=plan))
    draft = build([run], DatasetRequest(plan=plan, allowed_leaks=("site", "observation")))
    assert draft.manifest.leaks[0] == "site shop.example: train and validation"


def test_recoveries_without_rejected_answers_are_told_from_no_recoveries(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").manifest()
    folder.trial("clean", "shop-1", solved(), clean())
    folder.trial("server-error", "shop-1", solved(), recovering())
    run = load_run(folder.path)

    with pytest.raises(InputError, match=r"^there is no pair of answers: 1 answer recovered"):
        build([run], DatasetRequest(format="dpo", plan=None))
    with pytest.raises(InputError, match=r"answers to a page that has not failed, but no agent"):
        build([run], DatasetRequest(format="dpo", plan=None, only="clean"))
    (warning,) = build([run], DatasetRequest(format="kto", plan=None)).manifest.warnings
    assert "no answer is unwanted" in warning
