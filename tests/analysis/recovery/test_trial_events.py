from pathlib import Path

import msgspec
import pytest

from tests.analysis.builders import WORDS, Story
from warex.analysis.recovery.trial_events import ModelAction, TrialEvents
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.reader import read_trace


def _events_of(story: Story, folder: Path, vocabulary: Vocabulary | None = WORDS) -> TrialEvents:
    return TrialEvents(read_trace(story.write(folder / "events.jsonl")).entries, vocabulary)


def test_the_vocabulary_says_what_an_action_does(tmp_path: Path) -> None:
    story = Story().thinks(1, "reload").thinks(2, "click_nothing").thinks(3, "send_msg_to_user")

    acts = [act for call in _events_of(story, tmp_path).calls for act in call.actions]

    assert [(act.name, act.does) for act in acts] == [
        ("reload", "reload"),
        ("click_nothing", "wait"),
        ("send_msg_to_user", "finish"),
    ]


@pytest.mark.parametrize(("answer", "does"), [("refresh()", ["reload"]), ("None()", [])])
def test_an_answer_without_known_actions_is_read_by_their_names(
    answer: str, does: list[str], tmp_path: Path
) -> None:
    # No event of an action follows the call.
    story = Story().thinks(1, None)
    t, call = story.events[-1]
    story.events[-1] = (t, msgspec.structs.replace(call, **{"answer": answer}))

    events = _events_of(story, tmp_path)

    assert [act.does for act in events.calls[0].actions] == does
    assert events.reads_actions == bool(does)


@pytest.mark.parametrize(("by_server", "does"), [(True, []), (False, ["goto"])])
def test_what_the_api_ran_itself_is_not_an_action(
    by_server: bool, does: list[str], tmp_path: Path
) -> None:
    story = Story().thinks(1, None)
    t, call = story.events[-1]
    search = {"id": "1", "name": "web_search", "arguments": "{}", "by_server": by_server}
    reported = msgspec.structs.replace(call, **{"answer": "", "tool_calls": [search]})
    story.events[-1] = (t, reported)

    assert [act.does for act in _events_of(story, tmp_path).calls[0].actions] == does


@pytest.mark.parametrize("vocabulary", [None, WORDS])
def test_keys_that_load_the_page_again_are_a_reload(
    vocabulary: Vocabulary | None, tmp_path: Path
) -> None:
    story = Story().thinks(1, None)
    t, call = story.events[-1]
    pressed = '{"action": "keypress", "keys": ["CTRL", "R"]}'
    calls = [{"id": "1", "name": "computer", "arguments": pressed}]
    reported = msgspec.structs.replace(call, **{"answer": "", "tool_calls": calls})
    story.events[-1] = (t, reported)

    (known,) = _events_of(story, tmp_path, vocabulary).calls

    assert [(act.name, act.does) for act in known.actions] == [("keypress", "reload")]


@pytest.mark.parametrize("exchange", ["m1", "m1/2"])
def test_requests_to_the_model_are_not_the_browsers(exchange: str, tmp_path: Path) -> None:
    story = Story().asks("m1", "https://llm.example/v1/chat/completions", "POST").thinks(1, None)
    t, call = story.events[-1]
    story.events[-1] = (t, msgspec.structs.replace(call, **{"exchange": exchange}))
    story.page("x1")

    assert [one.event.exchange for one in _events_of(story, tmp_path).requests] == ["x1"]


def test_what_is_asked_for_long_after_the_end_is_not_the_agent_s(tmp_path: Path) -> None:
    story = Story().thinks(1, "reload").stops().page("x1")
    story.t += 20
    story.page("x2")

    events = _events_of(story, tmp_path)

    assert [one.event.exchange for one in events.requests] == ["x1"]
    assert events.ended < events.requests[0].t


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["'12'", " a "], ("12", "a")),
        ({"url": "https://a.example/", "new_tab": True}, ("https://a.example/",)),
        ("x", ("x",)),
        (None, ()),
    ],
)
def test_texts_of_an_action_are_read_in_every_shape(
    arguments: object, texts: tuple[str, ...]
) -> None:
    assert ModelAction("goto", "goto", arguments).texts == texts  # type: ignore[arg-type]
