"""How long an agent waited for an answer that was late or broke off, and what it did meanwhile."""

from pathlib import Path

import msgspec
import pytest

from tests.analysis.builders import SHOP, WORDS, Story
from warex.analysis.recovery import Recovery, recoveries
from warex.traces.events import FaultDelivered
from warex.traces.reader import read_trace


def judged(story: Story, folder: Path) -> Recovery:
    (verdict,) = recoveries(read_trace(story.write(folder / "events.jsonl")).entries, WORDS)
    return verdict


def hit(
    effect: str, waited_s: float = 0.0, *, resource: str = "document", client_left: bool = False
) -> Story:
    """Return a story of an agent whose first page meets an effect."""
    story = Story().thinks(1, "goto").asks("x1", resource=resource)
    story.planned("i1", "x1", effects=(effect,)).delivered("i1", "x1", client_left)
    t, event = story.events[-1]
    assert isinstance(event, FaultDelivered)
    story.events[-1] = (t, msgspec.structs.replace(event, waited_s=waited_s))
    return story.gets("x1", resource=resource)


@pytest.mark.parametrize("effect", ["delay", "trickle", "stall", "throttle"])
def test_a_late_page_is_waited_for(effect: str, tmp_path: Path) -> None:
    verdict = judged(hit(effect, 7.5).thinks(2, "click").stops(), tmp_path)

    assert (verdict.verdict, verdict.patience_s) == ("not_needed", 7.5)


def test_a_partial_page_is_reloaded_after_a_time(tmp_path: Path) -> None:
    story = hit("truncate").thinks(2, "noop").thinks(3, "reload").page("x2").stops()

    verdict = judged(story, tmp_path)

    assert verdict.verdict == "recovered"
    # From the cut at second 5 to the answer at 8.9: the first step only waits.
    assert verdict.patience_s == pytest.approx(3.9)
    assert verdict.acted_on_half is False


@pytest.mark.parametrize("action", ["click", "fill", "send_msg_to_user"])
def test_acting_before_the_reload_is_acting_on_half_a_page(action: str, tmp_path: Path) -> None:
    story = hit("truncate").thinks(2, action).thinks(3, "reload").page("x2").stops()

    verdict = judged(story, tmp_path)

    assert verdict.acted_on_half is True
    assert verdict.patience_s == pytest.approx(1.9)


def test_acting_after_the_reload_is_acting_on_the_whole_page(tmp_path: Path) -> None:
    story = hit("truncate").thinks(2, "reload").page("x2").thinks(3, "click").stops()

    assert judged(story, tmp_path).acted_on_half is False


def test_a_silence_counts_from_its_start(tmp_path: Path) -> None:
    story = hit("stall", 30.0, client_left=True).thinks(2, "reload").page("x2").stops()

    verdict = judged(story, tmp_path)

    assert verdict.verdict == "recovered"
    # The silence began with the plan, at second 4.
    assert verdict.patience_s == pytest.approx(3.9 - 1)


def test_a_part_of_a_page_is_not_a_half_page(tmp_path: Path) -> None:
    story = hit("truncate", resource="script").thinks(2, "click").stops()

    assert judged(story, tmp_path).acted_on_half is None


def test_an_error_page_has_nothing_to_wait_for(tmp_path: Path) -> None:
    story = Story().thinks(1, "goto").fault(1, SHOP).thinks(2, "click").stops()

    verdict = judged(story, tmp_path)

    assert (verdict.patience_s, verdict.acted_on_half) == (None, None)
