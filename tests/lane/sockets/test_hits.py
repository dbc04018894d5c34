"""The messages that rules count and hit."""

from warex.effects import ChangeMessages
from warex.exchange import Exchange, Request
from warex.faults.streams.base import MessageFault
from warex.faults.streams.sse_fault import SseFault
from warex.faults.streams.websocket_fault import WebsocketFault
from warex.lane.sockets.hits import MessageRule, first_hit
from warex.lane.state import AppliedInjection, MessageHits
from warex.rewriting.message_selection import SeenMessage
from warex.scenarios import PlannedInjection
from warex.seeds import KeyedRng

ABOUT = "GET https://shop.test/ws"


def rule_of(fault: MessageFault) -> MessageRule:
    """Return a fault's rule for one channel."""
    exchange = Exchange("x1", Request("GET", "https://shop.test/ws"))
    effects, _ = fault.effects(exchange, {}, KeyedRng(1, "rule"))
    (effect,) = effects
    assert isinstance(effect, ChangeMessages)
    injection = PlannedInjection("i1", "x1", "rule", fault, "", 1, effects)
    return MessageRule(AppliedInjection(injection, messages=MessageHits()), effect, ABOUT)


def test_all_rules_count_a_message_and_the_first_one_hits_it() -> None:
    drop, twice = rule_of(SseFault(action="drop", text="a")), rule_of(SseFault(action="duplicate"))
    hit, _ = first_hit([drop, twice], SeenMessage(b"a"), "event 1", "a", 2.0)

    assert hit is not None
    assert (hit.rule, hit.began) == (drop, 2.0)
    assert (drop.counted, twice.counted) == (1, 1)
    (change,) = hit.changes
    assert (change.where, change.before, change.after) == ("event 1", "a", None)


def test_a_fault_that_ends_a_channel_hits_once() -> None:
    for action in ("close", "reset", "stall"):
        rule = rule_of(WebsocketFault.model_validate({"action": action, "every": 2}))
        hits = [rule.hits(SeenMessage(b"a"))[0] for _ in range(6)]
        assert hits == [False, True, False, False, False, False]


def test_a_held_client_waits_since_the_first_hold() -> None:
    rule = rule_of(WebsocketFault(action="delay"))
    for now in (1.0, 2.0):
        hit, _ = first_hit([rule], SeenMessage(b"a"), "", "", now)
        assert hit is not None
        hit.hold()
    assert rule.applied.messages is not None
    assert rule.applied.messages.held_since == 1.0
