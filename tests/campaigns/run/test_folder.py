"""A run's folder is begun once, under one configuration, by one process at a time."""

from pathlib import Path
from typing import Any

import pytest

from warex.campaigns.plan.grid import TrialHistory
from warex.campaigns.run.folder import open_run_folder
from warex.errors import InputError, MachineError
from warex.llm.prices.table import Price, built_in_prices
from warex.llm.prices.user_table import read_prices
from warex.traces import (
    Counted,
    Manifest,
    TrialKey,
    Void,
    attempt_dir,
    read_manifest,
    write_outcome,
)

FAILED = Counted(ending="answered", score=0.0, latency_s=1)
VOID = Void(reason="r")
TABLE = built_in_prices()


def manifest(versions: dict[str, str] | None = None, **campaign: object) -> Manifest:
    return Manifest.model_validate(
        {
            "campaign": {"name": "c", **campaign},
            "vocabularies": {},
            "versions": versions or {},
            "seed": 1,
            "prices_date": "2025-01-01",
            "made_at": "2025-01-01T00:00:00+00:00",
            "command": [],
        }
    )


def begin(run: Path, *, resume: bool = False, **campaign: Any) -> dict[TrialKey, TrialHistory]:
    with open_run_folder(run, manifest(**campaign), TABLE, resume=resume) as past:
        return past


def test_a_new_run_is_frozen_before_its_first_trial(tmp_path: Path) -> None:
    assert begin(tmp_path / "runs" / "c") == {}

    assert read_manifest(tmp_path / "runs" / "c" / "manifest.json").campaign == {"name": "c"}


def test_a_second_run_into_one_folder_is_refused(tmp_path: Path) -> None:
    begin(tmp_path / "c")

    with pytest.raises(InputError, match="holds a run already; give --resume"):
        begin(tmp_path / "c")


def test_a_folder_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()

    with pytest.raises(InputError, match="is not empty and holds no run"):
        begin(tmp_path)
    with pytest.raises(InputError, match="is a file"):
        begin(tmp_path / "thesis.tex")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_another_configuration_is_refused_with_the_difference(tmp_path: Path) -> None:
    begin(tmp_path / "c", seed=1, tasks={"all": True})

    with pytest.raises(InputError, match=r"another configuration \(seed, tasks differ\)"):
        begin(tmp_path / "c", resume=True, seed=2, tasks={"sample": 1})


def test_settings_that_no_trial_uses_may_change(tmp_path: Path) -> None:
    begin(tmp_path / "c", seed=1, jobs=2, notes=["a"], budget={"usd": 1})

    prices = {"mine": {"input": 1, "output": 2}}
    begin(tmp_path / "c", resume=True, seed=1, jobs=4, notes=["a", "b"], prices=prices)

    assert read_manifest(tmp_path / "c" / "manifest.json").campaign == {
        "name": "c",
        "seed": 1,
        "jobs": 4,
        "notes": ["a", "b"],
        "prices": prices,
    }
    with pytest.raises(InputError, match=r"\(seed differs\)"):
        begin(tmp_path / "c", resume=True, seed=2, jobs=4)


def test_a_run_of_another_version_of_warex_is_refused(tmp_path: Path) -> None:
    begin(tmp_path / "c", versions={"warex": "0.1"})

    with pytest.raises(InputError, match=r"started by WAREX 0\.1, and this is 0\.2, whose trials"):
        begin(tmp_path / "c", resume=True, versions={"warex": "0.2"})


def test_another_browser_is_reported(tmp_path: Path) -> None:
    begin(tmp_path / "c", versions={"warex": "0.1", "browser": "Chromium 1"})
    reported: list[str] = []

    later = manifest({"warex": "0.1", "browser": "Chromium 2"})
    with open_run_folder(tmp_path / "c", later, TABLE, resume=True, notice=reported.append):
        pass

    (sentence,) = reported
    assert "started with browser Chromium 1, and this is Chromium 2" in sentence


def test_a_resumed_run_takes_the_prices_now_in_force(tmp_path: Path) -> None:
    run, lines = tmp_path / "c", list[str]()
    renewed = TABLE.with_own({"house": Price(input=1, output=2)})
    priced = {"prices_date": "2026-02-03", "prices_source": "f", "prices_digest": renewed.digest}
    first = manifest().model_copy(update={"prices_digest": TABLE.digest})
    with open_run_folder(run, first, TABLE, resume=False):
        assert read_prices(run / "prices.json") == TABLE
    with open_run_folder(run, first, TABLE, resume=True, notice=lines.append):
        assert lines == []
    with open_run_folder(
        run, first.model_copy(update=priced), renewed, resume=True, notice=lines.append
    ):
        pass

    assert read_prices(run / "prices.json") == renewed
    now = read_manifest(run / "manifest.json")
    assert {key: getattr(now, key) for key in priced} == priced
    assert "are counted at those of 2026-02-03 now, from f" in lines[0]


def test_a_run_whose_maker_was_killed_before_its_manifest_stood_is_begun(tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text("{")

    assert begin(tmp_path) == {}
    assert read_prices(tmp_path / "prices.json") == TABLE


def damaged(run: Path, file: str, text: str) -> str:
    """Return what is said of a run one of whose files holds this text."""
    begin(run)
    key = TrialKey("b", "a", "c", "t")
    write_outcome(attempt_dir(run, key, 1), FAILED)
    path = next(run.rglob(file))
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        begin(run, resume=True)
    assert path.read_text() == text
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"schema_version": 1, "campa', "this manifest is cut short or damaged"),
        ("", "this manifest is cut short or damaged"),
        ('{"schema_version": 7}', "schema_version 7 is unknown; this WAREX reads 1"),
        ('{"schema_version": 1}', "this is not a manifest: campaign: Field required"),
    ],
)
def test_an_unreadable_manifest_is_reported_and_left_alone(
    tmp_path: Path, text: str, says: str
) -> None:
    assert says in damaged(tmp_path / "c", "manifest.json", text)


@pytest.mark.parametrize("text", ['{"outcome": "cou', "", '{"outcome": "won"}'])
def test_an_outcome_that_cannot_be_read_is_a_sentence_with_a_remedy(
    tmp_path: Path, text: str
) -> None:
    assert "Remove that file, and the trial is run again" in damaged(
        tmp_path / "c", "outcome.json", text
    )


def test_a_run_killed_before_its_manifest_was_written_resumes(
    tmp_path: Path,
) -> None:
    (tmp_path / ".manifest.json.17-23").write_text('{"schema')

    assert begin(tmp_path, resume=True) == {}
    assert read_manifest(tmp_path / "manifest.json").campaign == {"name": "c"}


def test_a_configuration_with_secrets_is_known_again(tmp_path: Path) -> None:
    secrets: dict[str, Any] = {
        "password": "hunter2",
        "notes": ["sk-proj-" + "a1B2" * 12],
        "traffic": {"upstream": "http://u:hunter2@proxy.example:1"},
        "agents": [{"base_url": "https://u:hunter2@llm.example/v1?api_key=hunter2"}],
    }
    begin(tmp_path / "c", **secrets)

    assert "hunter2" not in (tmp_path / "c" / "manifest.json").read_text()
    assert begin(tmp_path / "c", resume=True, **secrets) == {}


def test_two_processes_never_run_in_one_folder(tmp_path: Path) -> None:
    with (
        open_run_folder(tmp_path / "c", manifest(), TABLE, resume=False),
        pytest.raises(InputError, match="another process is running"),
    ):
        begin(tmp_path / "c", resume=True)

    assert begin(tmp_path / "c", resume=True) == {}


def test_what_was_done_is_found_and_what_was_cut_off_keeps_its_number(tmp_path: Path) -> None:
    begin(tmp_path)
    done, cut = TrialKey("b", "a", "c", "done"), TrialKey("b", "a", "c", "cut off")
    for number, outcome in ((1, VOID), (2, FAILED)):
        write_outcome(attempt_dir(tmp_path, done, number), outcome)
    write_outcome(attempt_dir(tmp_path, cut, 1), VOID)
    attempt_dir(tmp_path, cut, 2).mkdir()

    assert begin(tmp_path, resume=True) == {
        done: TrialHistory((VOID, FAILED), last=2),
        cut: TrialHistory((VOID,), last=2),
    }


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(MachineError, match="cannot be written"):
        begin(tmp_path / "file" / "c")


def test_resuming_without_a_run_starts_one_and_says_so(tmp_path: Path) -> None:
    notices: list[str] = []
    for _ in range(2):
        with open_run_folder(
            tmp_path / "run", manifest(), built_in_prices(), resume=True, notice=notices.append
        ):
            pass

    assert notices == [f"{tmp_path / 'run'} holds no run to resume, so this one begins again"]
