"""What counts as recovery from a quota that is used up, and from a wall."""

from pathlib import Path

import msgspec
import pytest

from tests.analysis.builders import CATEGORIES, SHOP, WORDS, Story
from warex.analysis.recovery import Recovery, recoveries
from warex.traces.events import FaultPlanned
from warex.traces.reader import read_trace


def judged(story: Story, folder: Path) -> Recovery:
    (recovery,) = recoveries(read_trace(story.write(folder / "events.jsonl")).entries, WORDS)
    return recovery


def refused(
    story: Story, number: int, *, status: int = 429, kind: str = "rate_limit", url: str = SHOP
) -> Story:
    """Tell of a request that meets what the first one began."""
    story.fault(number, url, status)
    for place, (t, event) in enumerate(story.events):
        if isinstance(event, FaultPlanned) and event.injection == f"i{number}":
            first = None if number == 1 else "i1"
            known = msgspec.structs.replace(
                event, fault={"kind": kind}, category=CATEGORIES[kind], repeat_of=first
            )
            story.events[place] = (t, known)
    return story


def test_a_request_after_the_quotas_window_is_recovery_and_waiting(tmp_path: Path) -> None:
    story = refused(Story().thinks(1, "goto"), 1).thinks(2, "noop").thinks(3, "reload").page("x2")

    recoveries = judged(story, tmp_path)

    assert (recoveries.verdict, recoveries.waited, recoveries.tries) == ("recovered", True, 1)
    assert recoveries.why.endswith("It waited for the quota.")


def test_another_refusal_is_neither_waiting_nor_recovery(tmp_path: Path) -> None:
    story = refused(Story().thinks(1, "goto"), 1).thinks(2, "reload")
    story = refused(story, 2).thinks(3, "noop").stops()

    recoveries = judged(story, tmp_path)

    assert (recoveries.verdict, recoveries.waited) == ("not_recovered", False)
    assert "refused once more" in recoveries.why


def test_an_early_retry_recovers_once_the_page_arrives(tmp_path: Path) -> None:
    story = refused(Story().thinks(1, "goto"), 1).thinks(2, "reload")
    story = refused(story, 2).thinks(3, "reload").page("x3")

    recoveries = judged(story, tmp_path)

    assert (recoveries.verdict, recoveries.waited) == ("recovered", False)


def test_any_of_the_refused_pages_is_a_right_request(tmp_path: Path) -> None:
    story = refused(Story().thinks(1, "goto"), 1).thinks(2, "goto")
    story = refused(story, 2, url=f"{SHOP}cart").thinks(3, "goto").page("x3")

    assert judged(story, tmp_path).verdict == "recovered"


@pytest.mark.parametrize("again", [True, False])
def test_the_requests_of_a_loop_are_not_tries(again: bool, tmp_path: Path) -> None:
    story = Story().thinks(1, "goto")
    for number in range(1, 5):
        refused(story, number, status=307, kind="redirect_loop")
    if again:
        story.thinks(2, "reload").page("x9")

    recoveries = judged(story.stops(), tmp_path)

    expected = ("recovered", 1) if again else ("not_recovered", 0)
    assert (recoveries.verdict, recoveries.tries) == expected


def wall(story: Story, number: int) -> Story:
    return refused(story, number, status=403, kind="captcha_wall")


def test_passing_a_wall_to_the_page_is_recovery(tmp_path: Path) -> None:
    story = wall(Story().thinks(1, "goto"), 1).thinks(2, "click").reports(1, "cleared").page("x2")

    recoveries = judged(story, tmp_path)

    assert (recoveries.verdict, recoveries.steps) == ("recovered", 1)
    assert "was passed" in recoveries.why


def test_a_wall_that_is_not_passed_is_not_recovery(tmp_path: Path) -> None:
    story = wall(Story().thinks(1, "goto"), 1).thinks(2, "reload")
    story = wall(story, 2).thinks(3, "noop").stops()

    recoveries = judged(story, tmp_path)

    assert (recoveries.verdict, recoveries.tries) == ("not_recovered", 0)


def test_a_wall_that_was_passed_without_the_page_is_not_a_recovery(tmp_path: Path) -> None:
    story = wall(Story().thinks(1, "goto"), 1).thinks(2, "click").reports(1, "cleared").stops()

    assert "did not come" in judged(story, tmp_path).why


@pytest.mark.parametrize("back", [True, False])
def test_a_session_is_recovered_if_the_page_follows_a_model_call(
    back: bool, tmp_path: Path
) -> None:
    story = refused(Story().thinks(1, "goto"), 1, status=307, kind="session_expired").page("x2")
    story.thinks(2, "click").page("x3", f"{SHOP}login")
    if back:
        story.thinks(3, "goto").page("x4")

    assert judged(story.stops(), tmp_path).verdict == ("recovered" if back else "not_recovered")


@pytest.mark.parametrize("again", [True, False])
def test_a_changed_head_is_gone_when_the_page_is_asked_for_again(
    again: bool, tmp_path: Path
) -> None:
    story = refused(Story().thinks(1, "goto"), 1, status=200, kind="header_change")
    rewritten(story)
    if again:
        story.thinks(2, "reload").page("x2")

    assert judged(story.stops(), tmp_path).verdict == ("recovered" if again else "not_recovered")


def rewritten(story: Story) -> None:
    for place, (t, event) in enumerate(story.events):
        if isinstance(event, FaultPlanned):
            story.events[place] = (t, msgspec.structs.replace(event, effects=("rewrite",)))
