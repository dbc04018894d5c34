from pathlib import Path

import msgspec
import pytest

from tests.analysis.builders import RunFolder, Story, solved
from warex.analysis.inspection.timeline import inspect_trial
from warex.errors import TraceError
from warex.traces.event_parts import ChangedValue
from warex.traces.events import FaultDelivered, Tunnel


def test_every_moment_names_its_line_of_the_trace(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1).thinks(2, "reload").page("x2").stops()
    folder = RunFolder(tmp_path).manifest().trial("server-error", "add", solved(), story)

    seen = inspect_trial(folder)

    assert [(m.seq, m.kind) for m in seen.timeline] == [
        (1, "trial_began"),
        (2, "llm_call"),
        (3, "agent_action"),
        (5, "fault_planned"),
        (6, "exchange"),
        (7, "fault_delivered"),
        (8, "llm_call"),
        (9, "agent_action"),
        (11, "exchange"),
        (12, "disarmed"),
    ]
    assert seen.timeline[4].text.startswith("GET https://shop.example/: 500 by warex")
    assert (seen.exchanges, seen.scenario) == (2, "server-error")


def test_the_vocabulary_frozen_into_the_manifest_decides(tmp_path: Path) -> None:
    # Only the vocabulary knows that ``click_nothing`` is waiting and sends no form again.
    story = Story().thinks(1, "click").asks("x1", method="POST").planned("i1", "x1")
    story.gets("x1", 500).delivered("i1", "x1").thinks(2, "click_nothing").asks("x2", method="POST")
    story.gets("x2")
    run = RunFolder(tmp_path)
    folder = run.trial("server-error", "add", solved(), story)

    assert [r.verdict for r in inspect_trial(folder).trial.recoveries] == ["recovered"]
    run.manifest()
    assert [r.verdict for r in inspect_trial(folder).trial.recoveries] == ["healed_by_page"]


def test_a_request_without_an_answer_is_in_the_timeline(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path).trial("clean", "add", None, Story().asks("x1"))

    assert "no answer" in inspect_trial(folder).timeline[-1].text


def test_a_delivered_lie_is_reported_with_its_values(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").lied(1, "12.50", "13.50").lied(2, "7", None)
    folder = RunFolder(tmp_path).trial("clean", "add", None, story)

    seen = inspect_trial(folder)

    assert [moment.text for moment in seen.timeline if moment.kind == "fault_delivered"] == [
        "i1: held 0.00 s; /price: 12.50 → 13.50",
        "i2: held 0.00 s; /price: 7 → taken out",
    ]


def test_what_a_changed_page_reports_is_reported_with_its_detail(tmp_path: Path) -> None:
    story = Story().popup(1).reports(1, "visited", detail="/search").reports(1, "nothing")
    folder = RunFolder(tmp_path).trial("clean", "add", None, story)

    reported = [
        moment.text for moment in inspect_trial(folder).timeline if moment.kind == "witness"
    ]

    assert reported == ["i1: shown", "i1: visited (/search)", "i1: nothing"]


def test_an_act_by_a_script_is_called_that(tmp_path: Path) -> None:
    story = Story().popup(1).reports(1, "dismissed", by="script").reports(1, "typed", by="user")
    folder = RunFolder(tmp_path).trial("clean", "add", None, story)

    reported = [
        moment.text for moment in inspect_trial(folder).timeline if moment.kind == "witness"
    ]

    assert reported[1:] == ["i1: dismissed, by script: the page's or the agent's", "i1: typed"]


def test_changed_texts_are_shown_and_those_the_page_reported_are_marked(
    tmp_path: Path,
) -> None:
    story = Story().popup(1)
    for place, (t, event) in enumerate(story.events):
        if isinstance(event, FaultDelivered):
            changes = [
                ChangedValue(where="title", before="", after="Get 10% off"),
                ChangedValue(where="button", before="Save", after="Keep", reported_by="page"),
            ]
            text = msgspec.structs.replace(event, changes=changes, left_out=4)
            story.events[place] = t, text
    folder = RunFolder(tmp_path).trial("clean", "add", None, story)

    [reported] = [it.text for it in inspect_trial(folder).timeline if it.kind == "fault_delivered"]

    assert reported == (
        "i1: held 0.50 s; title: Get 10% off; button: Save → Keep (reported by the page); 4 more"
    )


def test_a_folder_without_a_trial_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="holds no trial"):
        inspect_trial(tmp_path)
    with pytest.raises(TraceError, match="not a folder"):
        inspect_trial(tmp_path / "nowhere")


def test_the_browser_s_own_chatter_is_left_out(tmp_path: Path) -> None:
    chatter = Tunnel(
        host="update.example", port=443, why="background", sent=1, received=0, seconds=0.1
    )
    story = Story().add(chatter).page("x1", "https://shop.example/?" + "q" * 500)
    folder = RunFolder(tmp_path).trial("clean", "add", solved(), story)

    began, page = inspect_trial(folder).timeline

    assert (began.kind, page.kind) == ("trial_began", "exchange")
    assert "…: 200" in page.text
    assert len(page.text) < 160
