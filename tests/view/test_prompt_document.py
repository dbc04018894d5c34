from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.analysis.builders import RunFolder, Story, solved
from warex.errors import TraceError
from warex.view.prompt_document import prompt_document
from warex.view.trace_index import read_index


def test_a_prompt_is_shown_as_what_changed_since_the_step_before(tmp_path: Path) -> None:
    first: JsonValue = [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "Page:\n[1] Buy\n[2] Back"},
    ]
    second: JsonValue = [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "Page:\n[1] Pay\n[2] Back"},
    ]
    story = Story().thinks(1, "click", messages=first).thinks(2, "click", messages=second)
    path = RunFolder(tmp_path).manifest().trial("clean", "add", solved(), story)
    index = read_index(path)
    calls = [entry.seq for entry in index.entries if entry.event.event == "llm_call"]

    begin, following = (prompt_document(index, seq)["parts"] for seq in calls)

    assert [(part["change"], part["role"]) for part in begin] == [
        ("added", "system"),
        ("added", "user"),
    ]
    assert [(part["change"], part["role"], part["text"]) for part in following] == [
        ("equal", "system", "Be good."),
        ("equal", "user", "Page:"),
        ("removed", "user", "[1] Buy"),
        ("added", "user", "[1] Pay"),
        ("equal", "user", "[2] Back"),
    ]
    with pytest.raises(TraceError, match="Line 1 of the trace is not a call"):
        prompt_document(index, 1)
