import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.metrics.row import METRICS, ConditionRow
from warex.analysis.output.summary import summarise
from warex.analysis.run.load import load_run
from warex.analysis.table.tabulate import tabulate
from warex.traces.outcome import Void


def test_the_summary_is_plain_json_that_keeps_what_is_unknown_null(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2")
    folder.trial("no-proxy", "add", solved())
    folder.trial("server-error", "add", solved(), story)
    folder.trial("clean", "move", Void(reason="lane died"))
    run = load_run(tmp_path)

    document: Any = json.loads(json.dumps(summarise(run, tabulate(run)), allow_nan=False))

    rows = {row["condition"]: row for row in document["conditions"]}
    assert rows["no-proxy"]["llm_calls"] is None
    assert rows["no-proxy"]["planned"] is rows["no-proxy"]["duplicated_writes"] is None
    assert rows["server-error"]["recovery"]["hits"] == 1
    reported = ("planned", "delivered", "missed", "missed_reasons", "skipped")
    assert [rows["server-error"][name] for name in reported] == [1, 1, 0, {}, {}]
    void = next(trial for trial in document["trials"] if trial["outcome"] == "void")
    assert (void["score"], void["void_reason"]) == (None, "lane died")
    assert (tmp_path / void["path"]).is_dir()
    assert document["as_if"] == {"scripted:patient": "gpt-4o"}


def test_every_figure_is_in_the_summary_with_its_interval(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    hurt = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()
    plain = Story().thinks(1, "goto").page("x1").stops()
    for task in ("add", "move", "share"):
        for repeat in (1, 2):
            folder.trial("clean", task, solved(), plain, repeat=repeat)
            folder.trial("server-error", task, failed(), hurt, repeat=repeat)
    run = load_run(tmp_path)

    document: Any = json.loads(json.dumps(summarise(run, tabulate(run)), allow_nan=False))

    row = next(row for row in document["conditions"] if row["condition"] == "server-error")
    facts = {field.name for field in fields(ConditionRow)} - {"figures"}
    assert row.keys() == facts | {metric.key for metric in METRICS}
    assert (row["delta"]["value"], row["delta"]["method"]) == (-1, "clustered")
    assert row["pass_k"] == {"1": 0, "2": 0}
    mean = {"interval": [2, 2], "n": 6, "tasks": 3, "median": 2, "median_interval": None}
    assert row["steps"] == {"value": 2, **mean}
    assert (row["delta"]["p"], row["delta"]["p_these"]) == (1 / 8, pytest.approx(2 / 6**3 / 2))
    assert row["recovered_and_solved"]["hits"] == 0
    assert (row["tries"]["value"], row["tries"]["interval"]) == (1, [1, 1])
    assert row["regime"]["name"] == "unclear"
    assert document["noise_floor"][0]["source"] == "repeats"
    assert document["power"][0]["n"] == 3
    assert document["verdict"][0].startswith("patient under server-error: -100 points [-100, +0]")
