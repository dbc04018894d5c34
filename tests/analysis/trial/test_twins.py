from pathlib import Path

from tests.analysis.builders import SHOP, RunFolder, Story, failed, solved
from warex.analysis.run.load import load_run
from warex.analysis.trial.attribution import UNATTRIBUTED
from warex.analysis.trial.record import load_trial
from warex.analysis.trial.twins import twins_of
from warex.traces.events import RequestSeen
from warex.traces.outcome import Void
from warex.traces.paths import EVENTS, TrialKey

ITEM = f"{SHOP}item"


def _key(condition: str, repeat: int = 1) -> TrialKey:
    return TrialKey("testbed", "patient", condition, "add", repeat)


def _clean() -> Story:
    story = Story().thinks(1, "goto", arguments=[SHOP]).page("x1")
    story.thinks(2, "goto", arguments=[ITEM]).page("x2", ITEM)
    return story.thinks(3, "goto", arguments=[SHOP]).page("x3").stops()


def _hurt() -> Story:
    story = Story().thinks(1, "goto", arguments=[SHOP]).fault(1)
    story.thinks(2, "goto", arguments=[ITEM]).page("x2", ITEM)
    return story.thinks(3, "goto", arguments=[SHOP]).page("x3").stops()


def test_a_trial_is_judged_against_the_clean_one_of_its_task(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    folder.trial("clean", "add", solved(), _clean())
    hurt = folder.trial("server-error", "add", failed(), _hurt())

    assert [one.verdict for one in load_trial(hurt).recoveries] == ["healed_by_page"]
    [trial] = [one for one in load_run(tmp_path).trials if one.exposed]
    assert [one.by_task for one in trial.recoveries] == [True]


def test_another_repeat_or_no_clean_trial_is_not_a_twin(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    folder.trial("clean", "add", solved(), _clean(), repeat=2)
    hurt = folder.trial("server-error", "add", failed(), _hurt())

    assert twins_of(tmp_path, _key("server-error")) == {}
    assert [one.verdict for one in load_trial(hurt).recoveries] == ["recovered"]


def test_a_clean_trial_has_no_twin(tmp_path: Path) -> None:
    RunFolder(tmp_path).manifest().trial("clean", "add", solved(), _clean())

    assert twins_of(tmp_path, _key("clean")) == {}


def test_the_last_counted_attempt_is_the_twin(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    folder.trial("clean", "add", solved(), Story().page("x1", ITEM))
    folder.trial("clean", "add", solved(), _clean(), attempt=2)
    folder.trial("clean", "add", Void(reason="lane died"), Story(), attempt=3)

    twin = twins_of(tmp_path, _key("server-error"))[UNATTRIBUTED]

    assert [one.event.url for one in twin.requests] == [SHOP, ITEM, SHOP]
    assert all(isinstance(one.event, RequestSeen) for one in twin.requests)


def test_a_twin_is_matched_though_an_earlier_attempt_was_lost(
    tmp_path: Path,
) -> None:
    folder = RunFolder(tmp_path).manifest()
    folder.trial("clean", "add", solved(), _clean(), attempt=2)
    folder.trial("server-error", "add", failed(), _hurt())

    assert twins_of(tmp_path, _key("server-error"))
    [trial] = [one for one in load_run(tmp_path).trials if one.exposed]
    assert trial.parting is not None


def test_a_damaged_clean_trial_is_not_a_twin(tmp_path: Path) -> None:
    clean = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), _clean())
    (clean / EVENTS).write_text("{}\n{}\n")

    assert twins_of(tmp_path, _key("server-error")) == {}
