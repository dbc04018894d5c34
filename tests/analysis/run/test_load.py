from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, solved
from warex.analysis.inspection.timeline import inspect_trial
from warex.analysis.run.load import benchmark_vocabulary, load_run
from warex.errors import InputError, TraceError
from warex.llm.prices.table import Price, built_in_prices
from warex.traces.manifest import read_manifest
from warex.traces.outcome import Void
from warex.traces.paths import MANIFEST


def test_conditions_keep_the_campaigns_order_with_controls_first(tmp_path: Path) -> None:
    run = RunFolder(tmp_path).manifest(conditions=[{"name": "server-error"}, {"name": "clean"}])
    for condition in ("clean", "extra", "no-proxy", "server-error"):
        run.trial(condition, "add", solved())

    assert load_run(tmp_path).conditions == ("no-proxy", "clean", "server-error", "extra")


def test_the_last_attempt_represents_the_trial_and_voids_are_kept(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.trial("clean", "add", Void(reason="lane died"), attempt=1)
    folder.trial("clean", "add", solved(), attempt=2)
    folder.trial("clean", "add", None, Story().page("x1"), attempt=3)

    run = load_run(tmp_path)

    assert [(trial.attempt, trial.solved) for trial in run.trials] == [(2, True)]
    assert run.void_attempts("patient", "clean") == 1


def test_a_folder_that_is_not_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is not a run"):
        load_run(tmp_path)


def test_an_invalid_vocabulary_is_an_error_that_names_the_place(tmp_path: Path) -> None:
    RunFolder(tmp_path).manifest()
    manifest = read_manifest(tmp_path / MANIFEST)
    wrong = manifest.model_copy(update={"vocabularies": {"testbed": {"verbs": ["click"]}}})

    with pytest.raises(TraceError, match=r"vocabularies\.testbed"):
        benchmark_vocabulary(wrong, "testbed")


def test_prices_of_the_campaigns_own_are_taken(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest(prices={"house-model": {"input": 3, "output": 4}})
    story = Story().thinks(1, "stop", tokens=(1000, 10), model="house-model")
    path = folder.trial("clean", "add", solved(), story)

    (trial,) = load_run(tmp_path).trials

    assert trial.llm is not None
    assert trial.llm.cost_usd == pytest.approx(1000 * 3e-6 + 10 * 4e-6)
    assert trial.llm.unpriced == ()
    assert inspect_trial(path).trial.llm == trial.llm


def test_invalid_prices_are_an_error_that_names_the_place(tmp_path: Path) -> None:
    RunFolder(tmp_path).manifest(prices={"mine": {"input": 1}})

    with pytest.raises(TraceError, match=r"campaign\.prices\.mine\.output: Field required"):
        load_run(tmp_path)


def test_prices_are_those_kept_with_the_run_and_else_those_in_force(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    retained = built_in_prices().with_own({"house-model": Price(input=3, output=4)})
    later = built_in_prices().with_own({"house-model": Price(input=6, output=8)})
    (tmp_path / "later.json").write_bytes(later.json_bytes())
    monkeypatch.setenv("WAREX_PRICES", str(tmp_path / "later.json"))
    folder = RunFolder(tmp_path / "run").manifest()
    story = Story().thinks(1, "stop", tokens=(1_000_000, 0), model="house-model")
    path = folder.trial("clean", "add", solved(), story)
    unkept = load_run(tmp_path / "run").trials[0].llm
    (tmp_path / "run" / "prices.json").write_bytes(retained.json_bytes())

    run = load_run(tmp_path / "run")

    assert run.trials[0].llm is not None
    assert unkept is not None
    assert (unkept.cost_usd, run.trials[0].llm.cost_usd, run.prices.digest) == (
        6,
        3,
        retained.digest,
    )
    assert inspect_trial(path).trial.llm == run.trials[0].llm
    (tmp_path / "run" / "prices.json").write_text("{")
    with pytest.raises(InputError, match=r"run/prices.json is not a price table: .*delete it"):
        load_run(tmp_path / "run")
