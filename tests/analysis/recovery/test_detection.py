from pathlib import Path

import msgspec
import pytest

from tests.analysis.builders import WORDS, Story
from warex.analysis.recovery import recoveries
from warex.analysis.recovery.words import trouble_in as trouble
from warex.traces.reader import read_trace


def _says(story: Story, words: str) -> Story:
    """Let the model say something in its last call."""
    place = max(i for i, (_, event) in enumerate(story.events) if event.event == "llm_call")
    t, call = story.events[place]
    story.events[place] = (t, msgspec.structs.replace(call, **{"answer": words}))
    return story


def _detected(story: Story, folder: Path) -> bool | None:
    [recovery] = recoveries(read_trace(story.write(folder / "events.jsonl")).entries, WORDS)
    return recovery.detected


@pytest.mark.parametrize(
    "words",
    [
        "The server returned an error.",
        "The page did not load.",
        "It seems the site is down.",
        "HTTP 503, let me wait.",
        "I see ERR_CONNECTION_REFUSED.",
        "Nothing happened when I clicked.",
        "Let me try that again.",
        "The list is still loading.",
        "The page is blank.",
        "I can't reach the shop.",
    ],
)
def test_words_of_trouble_show_that_the_fault_was_noticed(words: str, tmp_path: Path) -> None:
    assert trouble(words)
    story = _says(Story().thinks(1, "goto").fault(1).thinks(2, "click"), words)
    assert _detected(story, tmp_path) is True


@pytest.mark.parametrize(
    "words",
    ["I see the cart and click Order.", "No errors so far; I go on.", "The total is 42.", ""],
)
def test_other_words_show_nothing(words: str, tmp_path: Path) -> None:
    assert not trouble(words)
    story = _says(Story().thinks(1, "goto").fault(1).thinks(2, "click"), words)
    assert _detected(story, tmp_path) is False


def test_a_manner_of_speaking_from_before_the_fault_shows_nothing(tmp_path: Path) -> None:
    text = "If there is an error I tell you."
    story = _says(_says(Story().thinks(1, "goto"), text).fault(1).thinks(2, "click"), text)

    assert _detected(story, tmp_path) is False


@pytest.mark.parametrize("action", ["reload", "report_infeasible"])
def test_an_action_shows_it_too(action: str, tmp_path: Path) -> None:
    assert _detected(Story().thinks(1, "goto").fault(1).thinks(2, action), tmp_path) is True


def test_nothing_is_known_of_a_model_that_was_not_asked_again(tmp_path: Path) -> None:
    assert _detected(Story().thinks(1, "goto").fault(1), tmp_path) is None
