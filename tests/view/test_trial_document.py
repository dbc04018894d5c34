from pathlib import Path

from tests.analysis.builders import SHOP, RunFolder, Story, solved
from warex.view.run_document import Attempt, attempts_of
from warex.view.trace_index import read_index
from warex.view.trial_document import trial_document


def the_attempt(run: Path) -> Attempt:
    (attempt,) = attempts_of(run).values()
    return attempt


def test_the_lanes_of_a_trial_hold_steps_exchanges_and_faults(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").page("x0").fault(1).thinks(2, "reload").page("x2").stops()
    path = RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)

    document = trial_document(the_attempt(tmp_path), read_index(path))

    assert [step["actions"] for step in document["steps"]] == [["goto()"], ["reload()"]]
    assert [step["page"] for step in document["steps"]] == ["", f"{SHOP}: 500 by warex"]
    columns = document["exchanges"]
    assert columns["url"] == [SHOP, SHOP, SHOP]
    assert columns["status"] == [200, 500, 200]
    assert columns["by"] == ["site", "warex", "site"]
    (fault,) = document["faults"]
    assert (fault["kind"], fault["fate"]) == ("http_error", "delivered")
    assert [moment["kind"] for moment in document["moments"]] == ["trial_began", "disarmed"]


def test_a_damaged_outcome_is_told_and_the_trial_is_shown(tmp_path: Path) -> None:
    path = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), Story().page("x0"))
    (path / "outcome.json").write_text("{")

    document = trial_document(the_attempt(tmp_path), read_index(path))

    assert document["state"] == "damaged"
    assert "outcome.json" in document["problems"][0]
    assert document["exchanges"]["status"] == [200]
