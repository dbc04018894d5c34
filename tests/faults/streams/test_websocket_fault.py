from math import inf
from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import ChangeMessages, Reply
from warex.exchange import Exchange, Request
from warex.faults.streams.websocket_fault import WebsocketFault
from warex.seeds import KeyedRng

ASKED = Exchange("1", Request("GET", "https://shop.test/ws", {"upgrade": "websocket"}))


def change(**options: Any) -> ChangeMessages:
    fault = WebsocketFault.model_validate(options)
    ((effect,), _) = fault.effects(ASKED, {}, KeyedRng(1, "r"))
    assert isinstance(effect, ChangeMessages)
    assert effect.carrier == "websocket"
    return effect


def test_parameters_reach_the_effect() -> None:
    closing = change(code=4001, reason="later", sender="both", nth=[2, 4], text="*a*")
    assert (closing.action, closing.code, closing.reason) == ("close", 4001, "later")
    assert (closing.selection.sender, closing.selection.nth) == ("both", (2, 4))
    assert change(action="delay").seconds == 3
    assert change(action="stall").seconds == inf
    assert change(action="stall", seconds=2).seconds == 2
    corrupting = change(action="corrupt", how="nulled", at="/a").edit
    assert corrupting is not None
    assert (corrupting.how, corrupting.at, corrupting.kind) == ("nulled", "/a", None)
    usual = change(action="corrupt").edit
    assert usual is not None
    assert usual.kind == "price"


def test_a_refusal_answers_in_place_of_the_site() -> None:
    ((effect,), _) = WebsocketFault(action="refuse", status=403).effects(
        ASKED, {}, KeyedRng(1, "r")
    )
    assert isinstance(effect, Reply)
    assert effect.status == 403


@pytest.mark.parametrize(
    ("fields", "reported"),
    [
        ({"code": 1006}, "1006 is not a code that a Close frame can have"),
        ({"code": 999}, "not a code"),
        ({"code": 5000}, "not a code"),
        ({"reason": "ä" * 62}, "room for 123 bytes of reason, and it has 124"),
        ({"action": "drop", "every": 0}, "greater than or equal to 1"),
        ({"action": "drop", "nth": []}, "nth"),
        ({"action": "drop", "code": 1000}, "code belongs to action close"),
        ({"action": "drop", "seconds": 1}, "seconds belongs to action delay or stall"),
        ({"action": "refuse", "first": 2}, "first says which messages are hit"),
        ({"first": 1, "every": 2}, "first and every exclude each other"),
        ({"text": "a", "text_regex": "b"}, "exclude each other"),
        ({"text_regex": "("}, "is not a regular expression"),
        ({"members": {"a": 1}}, "is not a JSON pointer"),
        ({"members": {"/a": [1]}}, "members"),
        ({"action": "corrupt", "at": "/a", "value": "price"}, "leave out at or value"),
        ({"action": "delay", "seconds": 0}, "seconds"),
    ],
)
def test_contradictory_parameters_are_refused(fields: dict[str, Any], reported: str) -> None:
    with pytest.raises(ValidationError, match=reported):
        WebsocketFault.model_validate(fields)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "is ended in good order in place of message 1, with code 1011"),
        ({"action": "refuse"}, "is refused with 503"),
        ({"action": "drop", "every": 3}, "is robbed of message 3 of every 3"),
        ({"action": "duplicate", "nth": 2}, "is made to repeat message 2"),
        ({"action": "delay", "first": 2}, "each of the first 2 messages comes 3 s late"),
        ({"action": "stall", "seconds": 4}, "is silent for 4 s from message 1 on"),
        ({"action": "corrupt", "at": "/a"}, "in each message the value at '/a' is one off"),
        ({"action": "reset", "sender": "client"}, "message 1 with sender 'client'"),
    ],
)
def test_the_explanation_says_what_the_client_gets(fields: dict[str, Any], words: str) -> None:
    assert words in WebsocketFault.model_validate(fields).explain()


def test_a_delay_and_a_stall_can_be_shortened_and_anything_else_stays() -> None:
    assert WebsocketFault(action="delay").with_hold_at_most(1).seconds == 1
    assert WebsocketFault(action="stall").is_endless
    assert WebsocketFault(action="stall").with_hold_at_most(1).seconds == 1
    assert not WebsocketFault(action="stall", seconds=2).is_endless
    assert WebsocketFault(action="drop").with_hold_at_most(1) == WebsocketFault(action="drop")
    written = WebsocketFault(action="drop", nth=(2,))
    assert WebsocketFault.model_validate(written.model_dump(mode="json")) == written
