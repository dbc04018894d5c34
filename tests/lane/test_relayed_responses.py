"""Answers that pass while they come, with what faults make of them."""

from typing import Any

import pytest

from tests.lane.support.played import Client, Trial, answer, trial
from tests.proxy.support.lanes import scenario
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.faults import Fault
from warex.faults.popups.popup import Popup
from warex.faults.transport.bandwidth import Bandwidth
from warex.faults.transport.latency import Latency
from warex.faults.transport.slow_body import SlowBody
from warex.faults.transport.stalled_body import StalledBody
from warex.faults.transport.truncated_body import TruncatedBody
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.traces import FaultDelivered, FaultMissed, ResponseSeen

PAGE = b"<!doctype html><title>Shop</title><p>Hello, this is the page.</p>"
ASKED: dict[str, Any] = {"sec_fetch_dest": "document", "sec_fetch_mode": "navigate"}


def site(head: RequestHead, body: bytes) -> tuple[ResponseHead, bytes]:
    return answer(PAGE)


def met(fault: Fault, client: Client | None = None) -> tuple[Client, Trial]:
    with trial(scenario=scenario(fault)) as began:
        return began.ask(site, client=client, **ASKED), began


@pytest.mark.parametrize(
    "fault",
    [
        Latency(delay=2, stage="response"),
        Bandwidth(down=10),
        SlowBody(pause=1),
        StalledBody(stall=2),
    ],
)
def test_the_sites_own_answer_passes(fault: Fault) -> None:
    client, began = met(fault)
    assert client.body == PAGE
    assert isinstance(client.head, ResponseHead)
    assert began.the(FaultDelivered)
    assert began.the(ResponseSeen).by == "site"


def test_a_cut_answer_is_the_sites_with_the_reason_of_the_cut() -> None:
    client, began = met(TruncatedBody(after_bytes=20))
    assert (client.body, client.cut) == (PAGE[:20], "close")
    seen = began.the(ResponseSeen)
    assert (seen.status, seen.by, seen.size, seen.error) == (
        200,
        "site",
        20,
        "WAREX cut the connection",
    )
    assert began.the(FaultDelivered)


def test_waiting_in_a_silence_counts_as_a_hit() -> None:
    for leaves, delivered in ((5, True), (0.5, False)):
        client = Client(leaves_after=leaves)
        _, began = met(StalledBody(then="close", stall=30), client)
        assert client.body == PAGE[: len(PAGE) // 2]
        if delivered:
            assert began.the(FaultDelivered).client_left
        else:
            assert began.the(FaultMissed).reason == "client_gone"


def test_a_site_that_breaks_off_is_reported_as_such() -> None:
    with trial(scenario=scenario(Bandwidth(down=10))) as began:
        began.ask(lambda head, body: None, **ASKED)
    assert began.the(FaultMissed).reason == "site_failed"


def test_a_page_can_be_changed_and_slowed_together() -> None:
    rules = tuple(
        Rule(name=name, match=Match(), trigger=Trigger(always=True), fault=fault)
        for name, fault in (("slow", StalledBody(stall=3)), ("popup", Popup()))
    )
    with trial(scenario=Scenario(name="both", rules=rules)) as began:
        client = began.ask(site, **ASKED)
        assert began.the(FaultDelivered).rule == "slow"
    assert b"<script" in client.body
    assert client.body.endswith(PAGE[-20:])
