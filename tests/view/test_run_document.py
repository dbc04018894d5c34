import json
from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.output.summary import summarise
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.errors import TraceError
from warex.traces.outcome import Void
from warex.view.run_document import attempts_of, full_run_document, require_run, run_document


def test_written_figures_are_shown_if_they_are_of_every_attempt(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    folder.trial("clean", "add", solved(), Story().thinks(1, "goto").stops())
    loaded = load_run(tmp_path)
    (tmp_path / "summary.json").write_text(json.dumps(summarise(loaded, tabulate(loaded))))

    written = run_document(tmp_path, attempts_of(tmp_path))
    assert written["has_figures"]
    assert written == full_run_document(tmp_path, attempts_of(tmp_path))

    folder.trial("server-error", "add", failed(), Story().thinks(1, "goto").stops())
    older = run_document(tmp_path, attempts_of(tmp_path))
    assert not older["has_figures"]
    assert [(row["condition"], row["state"]) for row in older["trials"]] == [
        ("clean", "solved"),
        ("server-error", "failed"),
    ]


def test_a_damaged_outcome_is_shown_as_damaged_and_a_void_one_as_void(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    broken = folder.trial("clean", "add", solved(), Story().stops())
    (broken / "outcome.json").write_text("{")
    folder.trial("clean", "sub", Void(reason="the proxy died"), Story().stops())

    rows = run_document(tmp_path, attempts_of(tmp_path))["trials"]

    assert [row["state"] for row in rows] == ["damaged", "void"]


def test_a_trial_of_its_own_is_a_run_of_one_without_figures(tmp_path: Path) -> None:
    Story().thinks(1, "goto").stops().write(tmp_path / "mine" / "events.jsonl")
    folder = tmp_path / "mine"

    require_run(folder)
    shown = run_document(folder, attempts_of(folder))

    assert shown["has_figures"]
    assert (shown["verdict"], shown["conditions"]) == ([], [])
    assert [(row["task"], row["state"]) for row in shown["trials"]] == [("mine", "running")]


def test_a_folder_that_is_not_a_run_is_reported_with_a_hint(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"is not a run: .* Name a folder that `warex run`"):
        require_run(tmp_path)
