"""What counts as recovery from a dialog over a page."""

from pathlib import Path

import pytest

from tests.analysis.builders import SHOP, WORDS, Story
from warex.analysis.recovery import Recovery, recoveries
from warex.traces.reader import read_trace

ELSEWHERE = "https://news.example/"


def judged(story: Story, folder: Path) -> Recovery:
    (recovery,) = recoveries(read_trace(story.write(folder / "events.jsonl")).entries, WORDS)
    return recovery


@pytest.mark.parametrize("report", ["dismissed", "accepted"])
def test_closing_a_popup_is_recovery(report: str, tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").popup(1).thinks(2, "click").reports(1, report)

    recoveries = judged(story, tmp_path)

    assert (recoveries.verdict, recoveries.steps) == ("recovered", 1)
    assert report in recoveries.why


def test_a_popup_that_was_closed_was_detected(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").popup(1).thinks(2, "click").reports(1, "dismissed")

    recoveries = judged(story, tmp_path)

    assert (recoveries.detected, recoveries.detected_seq) == (True, recoveries.call_seq)


def test_a_page_that_is_loaded_after_the_agent_s_end_closes_nothing(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").popup(1, "followed").thinks(2, "click").stops().page("x9")

    assert judged(story, tmp_path).verdict == "not_recovered"


def test_leaving_a_popup_open_is_not_recovery(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").popup(1).thinks(2, "click").stops()

    assert judged(story, tmp_path).verdict == "not_recovered"


def test_a_page_loaded_without_the_popup_is_recovery(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").popup(1).thinks(2, "reload").page("x2")

    recoveries = judged(story, tmp_path)

    assert (recoveries.verdict, recoveries.tries, recoveries.steps) == ("recovered", 1, 1)
    assert recoveries.request_seq is not None


def test_a_page_loaded_with_the_popup_is_not_recovery(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").popup(1).thinks(2, "reload").popup(2)
    entries = read_trace(story.write(tmp_path / "events.jsonl")).entries

    assert [it.verdict for it in recoveries(entries, WORDS)] == ["not_recovered"] * 2


def test_following_a_popup_is_not_recovery_even_if_it_was_closed(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").popup(1, "dismissed").thinks(2, "click")
    story.reports(1, "followed", "visited").thinks(3, "click").page("x2", ELSEWHERE).stops()

    recoveries = judged(story, tmp_path)

    assert recoveries.verdict == "not_recovered"
    assert "did not come back" in recoveries.why


def test_returning_from_a_popups_site_is_recovery(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").popup(1).thinks(2, "click")
    story.reports(1, "followed", "visited").thinks(3, "goto").page("x2", f"{SHOP}cart")

    recoveries = judged(story, tmp_path)

    assert (recoveries.verdict, recoveries.steps) == ("recovered", 2)
    assert "came back" in recoveries.why


SURE = ("confirm", "", "Are you sure?")


def dialog() -> Story:
    return Story().thinks(1, "goto").met(1, "native_dialog", SURE)


def test_a_browser_dialog_answered_after_the_model_is_recovered_from(
    tmp_path: Path,
) -> None:
    recoveries = judged(dialog().thinks(2, "click").reports(1, "accepted"), tmp_path)

    assert (recoveries.verdict, recoveries.steps) == ("recovered", 1)


def test_a_dialog_answered_before_the_model_was_answered_by_the_driver(
    tmp_path: Path,
) -> None:
    recoveries = judged(dialog().reports(1, "dismissed").thinks(2, "click").stops(), tmp_path)

    assert (recoveries.verdict, "by the driver" in recoveries.why) == ("healed_by_client", True)


def test_a_dialog_that_nobody_answers_blocks_the_tab(tmp_path: Path) -> None:
    recoveries = judged(dialog().thinks(2, "click").stops(), tmp_path)

    assert (recoveries.verdict, "blocked" in recoveries.why) == ("not_recovered", True)


@pytest.mark.parametrize(
    ("sent", "verdict"), [("submitted", "recovered"), ("clicked", "not_recovered")]
)
def test_a_form_that_a_dismissed_dialog_stopped_must_be_sent(
    sent: str, verdict: str, tmp_path: Path
) -> None:
    story = dialog().reports(1, "dismissed", detail="the form was not sent").thinks(2, "click")

    assert judged(story.reports(1, sent).stops(), tmp_path).verdict == verdict


def test_a_form_that_the_page_sends_again_itself_is_healed(tmp_path: Path) -> None:
    story = dialog().reports(1, "dismissed", detail="the form was not sent")

    recoveries = judged(story.reports(1, "submitted").thinks(2, "click").stops(), tmp_path)

    assert recoveries.verdict == "healed_by_page"
