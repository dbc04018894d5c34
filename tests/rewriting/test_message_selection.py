import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.rewriting.message_selection import MessageSelection, SeenMessage

PRICE = json.dumps({"type": "price", "id": 7, "data": [{"sold": False, "x": None}]}).encode()


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({}, True),
        ({"sender": "client"}, False),
        ({"sender": "both"}, True),
        ({"text": "*price*"}, True),
        ({"text": "price"}, False),
        ({"text_regex": '"id": \\d'}, True),
        ({"text_regex": "^x"}, False),
        ({"members": {"/type": "pr*", "/id": 7, "/data/0/sold": False, "/data/0/x": None}}, True),
        ({"members": {"/id": 7.0}}, True),
        ({"members": {"/id": "7"}}, False),
        ({"members": {"/id": True}}, False),
        ({"members": {"/data/0/sold": 0}}, False),
        ({"members": {"/data/1": None}}, False),
        ({"members": {"/data/x": None}}, False),
        ({"event": "message"}, True),
        ({"event": "price*"}, False),
        ({"operation": "*"}, True),
        ({"operation": "query *"}, False),
    ],
)
def test_all_that_is_wanted_must_hold(wanted: dict[str, Any], fits: bool) -> None:
    assert MessageSelection(**wanted).fits(SeenMessage(PRICE)) == fits


@pytest.mark.parametrize(
    ("numbers", "hit", "over"),
    [
        ({}, [1, 2, 3, 4], []),
        ({"first": 2}, [1, 2], [2, 3, 4]),
        ({"nth": (1, 3)}, [1, 3], [3, 4]),
        ({"every": 2}, [2, 4], []),
    ],
)
def test_those_that_fit_are_numbered(
    numbers: dict[str, Any], hit: list[int], over: list[int]
) -> None:
    selection = MessageSelection(**numbers)
    assert [it for it in range(1, 5) if selection.hits(it)] == hit
    assert [it for it in range(1, 5) if selection.is_over(it)] == over


@given(st.binary())
def test_no_content_makes_it_fail(content: bytes) -> None:
    wanted = MessageSelection(members={"/a/0": "b"}, text_regex="a", text="*b*")
    assert wanted.fits(SeenMessage(content)) in (True, False)
