import os
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from warex.errors import InputError, TraceError
from warex.traces import TrialKey, attempt_dir, escape, find_trials, trial_dir, unescape

any_name = st.text(st.characters(), max_size=20)
nasty_name = st.sampled_from(["", ".", "..", "/", "../..", "%", "%2E", "a/b", "\0", "\ud800", "~"])
names = any_name | nasty_name
keys = st.builds(TrialKey, names, names, names, names, st.integers(1, 99))


@given(names)
def test_a_name_survives_the_round_trip(name: str) -> None:
    assert unescape(escape(name)) == name


@given(names)
def test_an_escaped_name_is_one_visible_folder(name: str) -> None:
    escaped = escape(name)

    assert escaped
    assert not escaped.startswith(".")
    assert escaped.isascii()
    assert escaped.isprintable()
    assert not set(escaped) & set('/\\:*?"<>| ')


@given(names, names)
def test_two_names_never_share_a_folder(one: str, other: str) -> None:
    assume(one != other)

    assert escape(one) != escape(other)


@given(keys, st.integers(1, 9))
def test_no_name_leads_out_of_the_run(key: TrialKey, attempt: int) -> None:
    run = Path("/runs/demo")

    folder = attempt_dir(run, key, attempt)

    assert os.path.normpath(folder) == str(folder)
    assert folder.parents[6] == run
    assert folder.parent == trial_dir(run, key)


def test_ordinary_names_stay_readable() -> None:
    key = TrialKey("testbed", "GPT-4o", "server-error+refresh", "calendar.add_1", 2)

    assert attempt_dir(Path("r"), key, 3) == Path(
        "r/trials/testbed/GPT-4o/server-error+refresh/calendar.add_1/2/attempt-3"
    )


def test_a_name_no_file_system_can_hold_is_a_sentence() -> None:
    with pytest.raises(InputError, match="at most 255 are allowed"):
        escape("x" * 256)


@pytest.mark.parametrize("name", ["a b", "%2e", ".hidden", "", "%ff", "%41", "x" * 256])
def test_a_folder_that_this_module_did_not_name_is_not_a_name(name: str) -> None:
    with pytest.raises((ValueError, InputError)):
        unescape(name)


def test_all_attempts_on_disk_are_found_in_order(tmp_path: Path) -> None:
    first = TrialKey("b", "a", "clean", "task/1", 2)
    second = TrialKey("b", "a", "clean", "task/1", 10)
    for key, attempt in ((second, 1), (first, 10), (first, 2)):
        attempt_dir(tmp_path, key, attempt).mkdir(parents=True)
    (tmp_path / "trials/b/a/clean/%ff/1/attempt-1").mkdir(parents=True)
    (tmp_path / "trials/b/a/clean/t/one/attempt-1").mkdir(parents=True)
    (tmp_path / "trials/b/a/clean/t/1/attempt-01").mkdir(parents=True)
    (tmp_path / "trials/.DS_Store").touch()

    assert list(find_trials(tmp_path)) == [
        (first, 2, attempt_dir(tmp_path, first, 2)),
        (first, 10, attempt_dir(tmp_path, first, 10)),
        (second, 1, attempt_dir(tmp_path, second, 1)),
    ]


def test_a_missing_run_is_reported_and_an_empty_one_has_no_trials(tmp_path: Path) -> None:
    assert list(find_trials(tmp_path)) == []
    with pytest.raises(TraceError, match="no run to read"):
        list(find_trials(tmp_path / "missing"))
