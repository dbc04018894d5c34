import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.builders import SHOP, RunFolder, Story, solved
from warex.analysis.steps.model_steps import steps
from warex.errors import TraceError
from warex.traces.reader import read_trace
from warex.view.json_text import as_json
from warex.view.trace_index import RAW_CHUNK, raw_lines, read_index


def an_attempt(run: Path, story: Story) -> Path:
    return RunFolder(run).manifest().trial("clean", "add", solved(), story)


def browsing() -> Story:
    story = Story().asks("m1", "https://llm.example/", "POST", "fetch").thinks(1, "goto")
    story.gets("m1", resource="fetch").page("x0").page("x1", f"{SHOP}a").asks("x2", f"{SHOP}b")
    return story.thinks(2, "click").gets("x2", 500).thinks(3, "click").stops()


def statuses(columns: dict[str, Any]) -> list[int | None]:
    answers = columns["answer"]
    return [answers["values"][code][0] for code in answers["codes"]]


@pytest.mark.parametrize("version", [3, 2])
def test_the_index_holds_what_the_steps_need_and_no_call_as_an_exchange(
    tmp_path: Path, version: int
) -> None:
    path = an_attempt(tmp_path, browsing())
    trace = path / "events.jsonl"
    trace.write_text(trace.read_text().replace('"schema_version":3', f'"schema_version":{version}'))

    index = read_index(path)

    assert steps(index.entries) == steps(read_trace(trace).entries)
    assert index.exchanges.lines_of(["m1", "x0", "x2", "x9"]) == {"m1": 2, "x0": 6, "x2": 10}
    columns = json.loads(as_json(index.exchanges.document(index.carriers)))
    assert columns["left_out"] == [0]
    assert statuses(columns) == [200, 200, 200, 500]
    assert index.problems == []


def test_the_last_request_of_an_agent_without_pages_is_where_it_is(tmp_path: Path) -> None:
    story = Story()
    for number in range(100):
        story.asks(f"x{number}", f"{SHOP}{number}", resource="fetch").gets(
            f"x{number}", 200, "fetch"
        )
    path = an_attempt(
        tmp_path, story.asks("m1", "https://llm.example/", resource="fetch").thinks(1, "get")
    )

    (step,) = steps(read_index(path).entries)

    assert step.request == f"GET {SHOP}99: 200"


def test_lines_are_found_by_their_number_and_its_end_is_known(tmp_path: Path) -> None:
    story = Story()
    for number in range(RAW_CHUNK):
        story.page(f"x{number}")
    path = an_attempt(tmp_path, story.stops())
    index = read_index(path)

    pieces = [raw_lines(path, index, chunk) for chunk in range(4)]

    assert [len(piece) for piece in pieces] == [50, 50, 2, 0]
    assert [json.loads(piece[0])["seq"] for piece in pieces[:3]] == [1, 51, 101]


def test_a_damaged_line_is_reported_and_the_others_are_shown(tmp_path: Path) -> None:
    path = an_attempt(tmp_path, Story().page("x0").page("x1").page("x2"))
    trace = path / "events.jsonl"
    lines = trace.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3][:40] + b"\n"
    lines[4] = lines[4].replace(b'"schema_version":3', b'"schema_version":99')
    trace.write_bytes(b"".join([*lines[:-1], lines[-1][:60]]))

    index = read_index(path)

    assert sorted(index.exchanges.lines_of(["x0", "x1", "x2"])) == ["x0", "x2"]
    assert [problem.removeprefix(str(trace)) for problem in index.problems] == [
        ":4: this is not a line of JSON (Expecting ',' delimiter: line 2 column 1 (char 41)); it is"
        " left out.",
        ":5: schema_version 99 is unknown; this WAREX reads 1 to 3; it is left out.",
        ":6: seq 6 follows 3; lines are missing.",
        ":7: the last line is cut short: its writer was killed, or still writes it.",
    ]


@pytest.mark.parametrize(
    ("name", "value"), [("seq", 1 << 60), ("seq", -1), ("t", 1e300), ("size", 1 << 62)]
)
def test_a_number_that_no_trace_has_is_a_damaged_line(
    tmp_path: Path, name: str, value: float
) -> None:
    path = an_attempt(tmp_path, Story().page("x0").page("x1"))
    trace = path / "events.jsonl"
    lines = trace.read_text().splitlines(keepends=True)
    event = json.loads(lines[-1])
    assert event["event"] == "response"
    lines[-1] = json.dumps(event | {name: value}, separators=(",", ":")) + "\n"
    trace.write_text("".join(lines))

    index = read_index(path)

    assert any("is out of range" in problem for problem in index.problems)
    assert json.loads(as_json(index.exchanges.document(())))["seq"]


def test_many_damaged_lines_are_counted(tmp_path: Path) -> None:
    path = an_attempt(tmp_path, Story().page("x0"))
    (path / "events.jsonl").write_bytes(b"x\n" * 20)

    problems = read_index(path).problems

    assert len(problems) == 6
    assert problems[-1] == "There are 15 more such lines."


def test_a_fifo_in_place_of_a_trace_does_not_block(tmp_path: Path) -> None:
    path = an_attempt(tmp_path, Story())
    (path / "events.jsonl").unlink()
    os.mkfifo(path / "events.jsonl")

    with pytest.raises(TraceError, match="it is a FIFO, not an ordinary file"):
        read_index(path)
