from math import inf
from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import ChangeMessages, Reply
from warex.exchange import Exchange, Request, Response
from warex.faults.streams.sse_fault import SseFault
from warex.scenarios import Match, Rule, Trigger
from warex.scenarios.matching.candidate import Candidate, rule_matcher
from warex.seeds import KeyedRng

ASKED = Exchange("1", Request("GET", "https://shop.test/events"))


def effect(**options: Any) -> Any:
    ((made,), _) = SseFault.model_validate(options).effects(ASKED, {}, KeyedRng(1, "r"))
    return made


def test_parameters_reach_the_effect() -> None:
    stalled = effect(action="stall", event="price*", nth=2)
    assert isinstance(stalled, ChangeMessages)
    assert (stalled.carrier, stalled.seconds, stalled.code) == ("events", inf, 0)
    assert (stalled.selection.event, stalled.selection.nth) == ("price*", (2,))
    assert isinstance(effect(action="refuse"), Reply)


@pytest.mark.parametrize(
    ("kind", "match", "fits"),
    [
        ("text/event-stream; charset=utf-8", {}, True),
        ("application/x-ndjson", {}, True),
        ("application/json", {}, False),
        ("text/html", {}, False),
        ("application/x-ndjson", {"content_type": "text/event-stream"}, False),
    ],
)
def test_a_rule_is_about_streams_only(kind: str, match: dict[str, Any], fits: bool) -> None:
    rule = Rule(
        name="a", match=Match(**match), trigger=Trigger(always=True), fault=SseFault(action="drop")
    )
    answered = Exchange("1", ASKED.request, Response(200, {"content-type": kind}))

    assert rule.needs_response
    assert rule_matcher(rule, ())(Candidate.of(answered)) == fits


@pytest.mark.parametrize(
    ("fields", "reported"),
    [
        ({"code": 1000}, "Extra inputs"),
        ({"sender": "client"}, "Extra inputs"),
        ({"stage": "request"}, "stage"),
        ({"action": "refuse", "event": "a"}, "event says which events are hit"),
    ],
)
def test_contradictory_parameters_are_refused(fields: dict[str, Any], reported: str) -> None:
    with pytest.raises(ValidationError, match=reported):
        SseFault.model_validate(fields)


def test_the_explanation_says_what_the_client_gets() -> None:
    words = SseFault(action="drop", event="price").explain()
    assert words == "is handled by the site and then robbed of each event with event 'price'"
