"""What counts as recovery where the site is different from then on."""

from pathlib import Path

import pytest

from tests.analysis.builders import SHOP, WORDS, Story
from warex.analysis.recovery import Recovery, recoveries
from warex.traces.event_parts import ChangedValue
from warex.traces.events import FaultDelivered
from warex.traces.reader import read_trace


def judged(story: Story, folder: Path) -> Recovery:
    (recovery,) = recoveries(read_trace(story.write(folder / "events.jsonl")).entries, WORDS)
    return recovery


def lost_session(story: Story, number: int = 1) -> Story:
    """Tell of a page that came without the visitor's session."""
    exchange, injection = f"x{number}", f"i{number}"
    return (
        story.asks(exchange)
        .planned(injection, exchange, effects=("rewrite",), kind="cookie_loss")
        .gets(exchange)
        .delivered(injection, exchange)
    )


def missing_page(story: Story, *, url: str = f"{SHOP}p/7", status: int = 404) -> Story:
    return (
        story.asks("x1", url)
        .planned("i1", "x1", url, kind="item_gone")
        .gets("x1", status, by="warex")
        .delivered("i1", "x1")
    )


def dearer(story: Story, before: str = "$10.00", after: str = "$12.00") -> Story:
    url = f"{SHOP}cart"
    story.asks("x1", url).planned("i1", "x1", url, ("rewrite",), kind="price_change").gets("x1")
    change = ChangedValue(where="total", before=before, after=after)
    return story.add(
        FaultDelivered(injection="i1", exchange="x1", rule="shop-down", changes=[change])
    )


def test_signing_in_again_is_recovery(tmp_path: Path) -> None:
    story = lost_session(Story().thinks(1, "goto")).thinks(2, "click")
    story.asks("x2", f"{SHOP}login", "POST").gets("x2", 303).page("x3")

    recoveries = judged(story.stops(), tmp_path)

    assert (recoveries.verdict, recoveries.call_seq is not None) == ("recovered", True)
    assert "POST https://shop.example/login" in recoveries.why


@pytest.mark.parametrize("again", ["reload", "goto"])
def test_a_reload_does_not_recover_a_lost_session(again: str, tmp_path: Path) -> None:
    story = lost_session(Story().thinks(1, "goto")).thinks(2, again).page("x2")

    assert judged(story.stops(), tmp_path).verdict == "not_recovered"


def test_what_a_page_writes_by_itself_does_not_sign_in(tmp_path: Path) -> None:
    story = lost_session(Story().thinks(1, "goto"))
    story.asks("x2", f"{SHOP}beacon", "POST", "xhr").gets("x2", 200, "xhr").page("x3")

    assert judged(story.stops(), tmp_path).verdict == "not_recovered"


def test_choosing_another_item_recovers_from_a_missing_item(tmp_path: Path) -> None:
    story = missing_page(Story().thinks(1, "click")).thinks(2, "click").page("x2", f"{SHOP}p/8")

    recoveries = judged(story.stops(), tmp_path)

    assert (recoveries.verdict, recoveries.confidence) == ("recovered", "likely")


def test_reporting_the_missing_item_is_recovery(tmp_path: Path) -> None:
    story = missing_page(Story().thinks(1, "click"))
    story.says(2, "The item is no longer available, it is unavailable.", "send_msg_to_user")

    assert judged(story.stops(), tmp_path).verdict == "recovered"


def test_repeated_requests_for_a_missing_item_are_not_recovery(tmp_path: Path) -> None:
    story = missing_page(Story().thinks(1, "click"))
    for step in (2, 3):
        story.thinks(step, "reload").asks(f"x{step}", f"{SHOP}p/7").gets(f"x{step}", 404)

    assert judged(story.thinks(4, "send_msg_to_user").stops(), tmp_path).verdict == "not_recovered"


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("It costs $12.00.", "recovered"),
        ("It costs $10.00.", "not_recovered"),
        ("I have bought it.", "not_needed"),
        ("The price differs from the list: $10.00 there, but $12.00 here.", "recovered"),
    ],
)
def test_the_new_price_is_the_right_answer(answer: str, verdict: str, tmp_path: Path) -> None:
    story = dearer(Story().thinks(1, "click"))
    story.thinks(2, "send_msg_to_user", arguments=(answer,))

    assert judged(story.stops(), tmp_path).verdict == verdict


def test_without_calls_of_a_model_nothing_is_known(tmp_path: Path) -> None:
    for number, story in enumerate((lost_session(Story()), missing_page(Story()))):
        assert judged(story.stops(), tmp_path / f"{number}").verdict == "undecided"
