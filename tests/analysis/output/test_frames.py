import re
import sys
from pathlib import Path

import polars as pl
import pytest

import warex
from tests.analysis.builders import SHOP, RunFolder, Story, failed, solved
from tests.analysis.metrics.reference import TYPES
from warex.analysis.output import frames
from warex.analysis.output.frames import KEY, Frames, Schema
from warex.errors import MachineError, TraceError
from warex.traces.outcome import Void

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "frames.md"
SCHEMAS: dict[str, Schema] = {
    "key": KEY,
    "contrasts": frames.CONTRASTS,
    **{
        name: {c: kind for c, kind in schema.items() if c not in KEY}
        for name, schema in {
            "injections": frames.INJECTIONS,
            "recoveries": frames.RECOVERIES,
            "llm_calls": frames.LLM_CALLS,
            "requests": frames.REQUESTS,
            "steps": frames.STEPS,
            "faults": {c: k for c, k in frames.FAULTS.items() if c not in frames.INJECTIONS},
        }.items()
    },
}


def _documented() -> dict[str, dict[str, str]]:
    sections = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    return {
        section.splitlines()[0]: {
            name: row.split("|")[2].strip()
            for row in section.splitlines()
            if row.startswith("| `")
            for name in re.findall(r"`(\w+)`", row.split("|")[1])
        }
        for section in sections
    }


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_column_is_documented_in_order_and_no_other(name: str) -> None:
    documented = _documented()[name]
    assert list(documented.items()) == [(c, TYPES[kind]) for c, kind in SCHEMAS[name].items()]


def test_a_run_is_shown_by_its_frames_shapes_and_reads_no_trace_for_that(run: Frames) -> None:
    shown = repr(run)

    assert f"trials {run.trials.height}x{run.trials.width}" in shown
    assert "requests" not in shown
    assert len(shown) < 500


def test_pandas_that_is_not_installed_is_named_with_its_extra(
    run: Frames, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(MachineError, match=r"Frames\.to_pandas needs pandas.*\[pandas\]"):
        run.to_pandas()


@pytest.fixture
def run(tmp_path: Path) -> Frames:
    folder = RunFolder(tmp_path).manifest(
        conditions=[{"name": "server-error", "scenario": "paper/server-error", "intensity": 2}]
    )
    plain = Story().thinks(1, "goto").page("x1").stops()
    hurt = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()
    for task in ("add", "move"):
        folder.trial("no-proxy", task, solved())
        folder.trial("clean", task, solved(), plain)
    folder.trial("server-error", "add", Void(reason="lane died"))
    folder.trial("server-error", "add", solved(), hurt, attempt=2)
    folder.trial("server-error", "move", failed(), plain)
    folder.trial("server-error", "share", None, plain)
    return warex.load_run(tmp_path)


def test_every_attempt_has_a_row_and_one_represents_its_trial(run: Frames) -> None:
    lines = run.trials.filter(pl.col("task") == "add", pl.col("condition") == "server-error")

    assert lines.select("attempt", "final_attempt", "outcome", "solved").rows() == [
        (1, False, "void", None),
        (2, True, "counted", True),
    ]
    assert lines["void_reason"][0] == "lane died"
    assert lines.select("exposed", "recovered", "delivered", "reloads").rows()[1] == (
        True,
        True,
        1,
        1,
    )
    assert run.trials.filter(pl.col("task") == "share")["outcome"].to_list() == [None]


def test_unrecorded_figures_are_null(run: Frames) -> None:
    direct = run.trials.filter(pl.col("condition") == "no-proxy")
    assert direct["llm_calls"].to_list() == [None, None]
    assert direct["exposed"].to_list() == [None, None]


def test_injections_recoveries_and_calls_have_their_own_frames(run: Frames) -> None:
    assert run.injections.select("kind", "fate", "reason").rows() == [
        ("http_error", "delivered", None)
    ]
    assert run.recoveries.select("verdict", "steps", "disagreement").rows() == [
        ("recovered", 1, None)
    ]
    assert run.llm_calls.height == 2 + 2 + 1 + 1
    assert set(run.llm_calls["model"]) == {"scripted:patient"}


def test_requests_are_read_when_they_are_asked_for(run: Frames) -> None:
    hurt = run.requests.filter(pl.col("attempt") == 2)
    assert hurt.select("url", "status", "by").rows() == [(SHOP, 500, "warex"), (SHOP, 200, "site")]


def test_conditions_are_the_report_s_rows(run: Frames) -> None:
    (row,) = run.conditions.filter(pl.col("condition") == "server-error").to_dicts()

    assert (row["n"], row["success"], row["voids"]) == (2, 0.5, 1)
    assert row["success_low"] < 0.5 < row["success_high"]
    assert (row["scenario"], row["dose_axis"], row["dose"]) == (
        "paper/server-error",
        "intensity",
        2.0,
    )
    assert (row["delta"], row["delta_pairs"], row["regime"]) == (-0.5, 2, "unclear")
    (direct,) = run.conditions.filter(pl.col("condition") == "no-proxy").to_dicts()
    assert (direct["recovery"], direct["recovery_low"], direct["cost_usd"]) == (None, None, None)
    assert (row["tries"], row["tries_low"], direct["tries"]) == (1.0, None, None)
    watched = ("healed", "undecided", "reloads", "duplicated_writes", "planned", "delivered")
    assert [direct[name] for name in watched] == [None] * 6
    assert [row[name] for name in watched] == [0, 0, 1, 0, 1, 1]


def test_a_folder_that_is_not_a_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="is not a run"):
        warex.load_run(str(tmp_path))


def test_two_agents_have_a_line_for_each_figure_with_the_adjusted_p(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).manifest()
    for task in map(str, range(6)):
        folder.trial("clean", task, solved(), agent="a")
        folder.trial("clean", task, failed(), agent="b")
        folder.trial("no-proxy", task, solved(), agent="a")
        folder.trial("no-proxy", task, solved(), agent="b")

    (same, line) = warex.load_run(tmp_path).contrasts.to_dicts()

    assert (same["condition"], line["condition"]) == ("no-proxy", "clean")
    assert (line["first"], line["second"], line["first_rate"]) == ("a", "b", 1)
    assert (line["paired"], line["paired_p"], line["p_holm"]) == (-1, 2**-6, 2 * 2**-6)


def test_a_step_is_a_call_with_the_page_before_it_and_its_actions(run: Frames) -> None:
    steps = run.steps.filter(pl.col("task") == "add", pl.col("condition") == "server-error")

    assert steps.select("step", "actions", "faults").rows() == [
        (1, "goto()", 0),
        (2, "reload()", 1),
    ]
    assert steps["page"].to_list()[0] is None
    assert steps["input_tokens"].null_count() == 0


def test_a_fault_has_its_verdict(run: Frames) -> None:
    (fault,) = run.faults.rows(named=True)

    assert (fault["kind"], fault["fate"], fault["verdict"]) == (
        "http_error",
        "delivered",
        "recovered",
    )
    assert run.exchanges is run.requests


def test_a_name_that_is_not_unicode_is_a_value(tmp_path: Path) -> None:
    RunFolder(tmp_path).manifest().trial("clean", "t\udc80", solved())

    assert warex.load_run(tmp_path).trials["task"].to_list() == ["t?"]
