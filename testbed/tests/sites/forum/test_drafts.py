from collections.abc import Callable
from typing import Any

import pytest

from warex_testbed.sites.forum.drafts import (
    TopicDraft,
    read_message,
    read_number,
    read_report,
    read_settings,
    read_switch,
    read_tags,
    read_text,
    read_topic,
    read_vote,
)
from warex_testbed.sites.forum.model import Problems

BOARDS = {1: "a", 2: "b"}
TOPIC = {
    "title": "Which grease? ",
    "board": "2",
    "tags": "A, b b",
    "text": " Long enough.\r\nYes. ",
}
DIGESTS = {"daily": "Daily", "never": "Never"}


def test_a_topic_is_read_kindly() -> None:
    read = read_topic(TOPIC, BOARDS)
    assert read == TopicDraft("Which grease?", 2, ("a", "b"), "Long enough.\nYes.")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("title", "short"),
        ("title", "x" * 141),
        ("board", ""),
        ("board", "9"),
        ("tags", ""),
        ("tags", "a b c d e"),
        ("tags", "wet_weather"),
        ("text", "no"),
        ("text", "x" * 8001),
    ],
)
def test_what_is_wrong_with_a_topic_is_reported_at_its_field(field: str, value: str) -> None:
    with pytest.raises(Problems) as caught:
        read_topic(TOPIC | {field: value}, BOARDS)
    assert set(caught.value.sentences) == {field}


@pytest.mark.parametrize(
    "read",
    [
        lambda: read_text({"text": "  "}),
        lambda: read_text({"text": "x" * 8001}),
        lambda: read_report({"reason": "Because"}, ("Spam",)),
        lambda: read_report({"reason": "Spam", "details": "x" * 1001}, ("Spam",)),
        lambda: read_message({"subject": "", "text": "x"}),
        lambda: read_message({"subject": "x", "text": ""}),
        lambda: read_vote({"value": "2"}),
        lambda: read_vote({}),
        lambda: read_switch({"on": "yes"}),
        lambda: read_settings({"digest": "hourly"}, DIGESTS),
        lambda: read_settings({"digest": "daily", "about": "x" * 601}, DIGESTS),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(read: Callable[[], Any]) -> None:
    with pytest.raises(Problems, match=r"\.$"):
        read()


def test_a_box_that_was_not_ticked_is_off() -> None:
    settings = read_settings({"digest": "never", "reply_mail": "on", "place": " Porto "}, DIGESTS)
    assert (settings.reply_mail, settings.message_mail) == (True, False)
    assert settings.place == "Porto"


def test_numbers_and_tags_out_of_a_form() -> None:
    assert read_number(" 7 ") == 7
    for text in ("", "-1", "x", "1" * 10, None):
        assert read_number(text) is None
    assert read_tags("Wet-Weather,  chains, chains") == ("wet-weather", "chains")
    assert read_vote({"value": -1}) == -1
    assert read_switch({"on": "0"}) is False
