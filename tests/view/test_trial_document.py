import json
from pathlib import Path
from typing import Any, cast

from tests.analysis.builders import SHOP, RunFolder, Story, solved
from warex.view.json_text import as_json
from warex.view.run_document import Attempt, attempts_of
from warex.view.trace_index import read_index
from warex.view.trial_document import trial_document


def the_attempt(run: Path) -> Attempt:
    (attempt,) = attempts_of(run).values()
    return attempt


def document_of(run: Path, attempt: Path) -> dict[str, Any]:
    document = as_json(trial_document(the_attempt(run), read_index(attempt)))
    return cast(dict[str, Any], json.loads(document))


def answers(columns: dict[str, Any]) -> list[tuple[int, str]]:
    values = columns["answer"]["values"]
    return [(values[code][0], values[code][2]) for code in columns["answer"]["codes"]]


def test_the_lanes_of_a_trial_hold_steps_exchanges_and_faults(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").page("x0").fault(1).thinks(2, "reload").page("x2").stops()
    path = RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)

    document = document_of(tmp_path, path)

    assert [step["actions"] for step in document["steps"]] == [["goto()"], ["reload()"]]
    assert [step["page"] for step in document["steps"]] == ["", f"{SHOP}: 500 by warex"]
    columns = document["exchanges"]
    assert columns["url"] == [SHOP, SHOP, SHOP]
    assert answers(columns) == [(200, "site"), (500, "warex"), (200, "site")]
    (fault,) = document["faults"]
    assert (fault["kind"], fault["fate"]) == ("http_error", "delivered")
    assert fault["request_seq"] == columns["seq"][1]
    assert [moment["kind"] for moment in document["moments"]] == ["trial_began", "disarmed"]


def test_a_damaged_outcome_is_reported_and_the_trial_is_shown(tmp_path: Path) -> None:
    path = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), Story().page("x0"))
    (path / "outcome.json").write_text("{")

    document = document_of(tmp_path, path)

    assert document["state"] == "damaged"
    assert "outcome.json" in document["problems"][0]
    assert answers(document["exchanges"]) == [(200, "site")]
