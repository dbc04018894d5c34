"""Injections are settled by what became of their plans."""

from typing import Any

import pytest

from tests.lane.support.played import Client, answer, trial
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.faults import Fault
from warex.faults.connection.network_error import NetworkError
from warex.faults.lies.duplicate_write import DuplicateWrite
from warex.faults.popups.popup import Popup
from warex.faults.server.http_error import HttpError
from warex.faults.walls.slow_page import SlowPage
from warex.scenarios import Match, Rule, Scenario, Trigger
from warex.traces import FaultDelivered, FaultMissed, FaultPlanned, ResponseSeen

DOCUMENT: dict[str, Any] = {"sec_fetch_dest": "document", "sec_fetch_mode": "navigate"}


def site(head: RequestHead, body: bytes) -> tuple[ResponseHead, bytes]:
    return answer(bytes(160))


def rules(**faults: object) -> Scenario:
    always = Trigger(always=True)
    return Scenario(
        name="test",
        rules=tuple(
            Rule(name=name, match=Match(), trigger=always, fault=fault)  # type: ignore[arg-type]
            for name, fault in faults.items()
        ),
    )


def test_a_client_that_leaves_a_hold_is_not_reached_by_what_comes_after_it() -> None:
    with trial(scenario=rules(a=NetworkError(delay=5))) as began:
        began.ask(site, client=Client(leaves_after=2), **DOCUMENT)

    assert began.kinds()[-2:] == ["FaultDelivered", "ResponseSeen"]
    ended = began.the(ResponseSeen)
    assert (ended.status, ended.by, ended.error) == (None, "none", "Client disconnected.")


def test_a_client_that_leaves_between_pieces_waited_for_both_faults() -> None:
    with trial(scenario=rules(a=SlowPage(delay=2, pause=1))) as began:
        began.ask(site, client=Client(leaves_after=4.5), **DOCUMENT)

    delivered = began.the(FaultDelivered)
    assert (delivered.waited_s, delivered.client_left) == (4.5, True)
    assert began.kinds()[-2:] == ["ResponseSeen", "FaultDelivered"]


def test_a_copy_that_the_site_answered_is_a_change() -> None:
    with trial(scenario=rules(a=DuplicateWrite())) as began:
        got = began.ask(site, method="POST", body=b"a=1", sec_fetch_dest="empty")

        assert [body for _, body in got.requests] == [b"a=1", b"a=1"]
    (change,) = began.the(FaultDelivered).changes
    assert (change.where, change.before, change.after) == ("request", "once", "twice")


def test_an_answer_after_which_browsers_retry_begins_no_new_occurrence() -> None:
    with trial(scenario=rules(a=HttpError(status=408))) as began:
        began.ask(site, **DOCUMENT)
        began.ask(site, **DOCUMENT)

    assert [it.repeat_of for it in began.all(FaultPlanned)] == [None, "i1"]


def test_what_is_open_when_the_trial_ends_is_missed_for_that() -> None:
    with trial(scenario=rules(a=NetworkError(delay=60))) as began:
        state = began.hold(site, seconds=1.5, **DOCUMENT)

        assert not state.finished
    missed, ended = began.the(FaultMissed), began.the(ResponseSeen)
    assert (missed.reason, missed.waited_s) == ("trial_over", 1.5)
    assert (ended.error, ended.timings.total) == ("the trial ended", 1.5)


def test_a_fault_after_the_client_left_is_missed_as_client_gone() -> None:
    late = HttpError.model_validate({"status": 503, "stage": "response"})
    with trial(scenario=rules(a=SlowPage(delay=5), b=late)) as began:
        began.ask(site, client=Client(leaves_after=2), **DOCUMENT)

    assert [it.rule for it in began.all(FaultPlanned)] == ["a", "b"]
    assert (began.the(FaultDelivered).rule, began.the(FaultDelivered).waited_s) == ("a", 2)
    assert (began.the(FaultMissed).rule, began.the(FaultMissed).reason) == ("b", "client_gone")


@pytest.mark.parametrize("fault", [Popup(), HttpError(stage="response")])
def test_a_site_that_is_down_is_why_a_fault_of_its_answer_is_missed(fault: Fault) -> None:
    with trial(scenario=rules(fault=fault)) as began:
        began.ask(lambda head, body: None, **DOCUMENT)

    assert began.the(FaultMissed).reason == "site_failed"
    assert began.the(ResponseSeen).by == "none"
