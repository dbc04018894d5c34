"""One trial's lane, asked by a played engine."""

import asyncio
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.installed_plugins import installed
from tests.lane.support.played import Client, Trial, answer, trial
from tests.lane.support.traffic import CHAT
from tests.proxy.support.lanes import scenario
from warex.engine.handler import Respond
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.faults.connection.connection_cut import ConnectionCut
from warex.faults.connection.connection_refused import ConnectionRefused
from warex.faults.popups.popup import Popup
from warex.faults.server.http_error import HttpError
from warex.faults.walls.slow_page import SlowPage
from warex.lane.control.control_api import ControlApi, dispatch
from warex.scenarios import TryOutcome
from warex.scenarios.origins import ConnectionTarget
from warex.traces import (
    Canary,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    RequestSeen,
    ResponseSeen,
)

PAGE = b"<!doctype html><html><head><title>Shop</title></head><body><p>Hello</p></body></html>"
DOCUMENT: dict[str, Any] = {"sec_fetch_dest": "document", "sec_fetch_mode": "navigate"}


def site(head: RequestHead, body: bytes) -> tuple[ResponseHead, bytes]:
    return answer(PAGE)


def test_an_untouched_exchange_passes_as_it_came_and_is_recorded_once() -> None:
    with trial() as began:
        got = began.ask(site, **DOCUMENT)

        assert got.body == PAGE
        assert got.head == answer(PAGE)[0]
    seen, ended = began.the(RequestSeen), began.the(ResponseSeen)
    assert (seen.url, seen.resource, seen.top_level) == ("https://shop.test/", "document", True)
    assert (ended.status, ended.by, ended.size, ended.error) == (200, "site", len(PAGE), None)


def test_a_reply_is_sent_in_place_of_the_sites_answer() -> None:
    with trial(scenario=scenario(HttpError(status=503))) as began:
        got = began.ask(site, **DOCUMENT)

        assert isinstance(got.head, Respond)
        assert got.head.status == 503
        assert got.requests == []
    assert began.kinds()[-4:] == ["RequestSeen", "FaultPlanned", "ResponseSeen", "FaultDelivered"]
    assert began.the(ResponseSeen).by == "warex"


def test_a_reply_that_does_not_arrive_is_missed() -> None:
    with trial(scenario=scenario(HttpError(status=503))) as began:
        began.ask(site, client=Client(takes=False), **DOCUMENT)

    assert began.the(FaultMissed).reason == "client_left"
    # The fault says that the client left; this is what it was sent.
    assert (began.the(ResponseSeen).status, began.the(ResponseSeen).error) == (503, None)


def test_the_seconds_of_a_hold_and_of_each_pause_are_recorded() -> None:
    with trial(scenario=scenario(SlowPage(delay=3, pause=0.5))) as began:
        got = began.ask(site, **DOCUMENT)

        assert got.body == PAGE
    assert began.the(FaultDelivered).waited_s == 3 + 14 * 0.5


def test_leaving_a_hold_after_a_second_counts_as_a_hit() -> None:
    with trial(scenario=scenario(SlowPage(delay=3))) as began:
        began.ask(site, client=Client(leaves_after=2), **DOCUMENT)

    delivered = began.the(FaultDelivered)
    assert (delivered.waited_s, delivered.client_left) == (2, True)


def test_leaving_a_hold_immediately_is_client_gone() -> None:
    with trial(scenario=scenario(SlowPage(delay=3))) as began:
        began.ask(site, client=Client(leaves_after=0.5), **DOCUMENT)

    missed = began.the(FaultMissed)
    assert (missed.reason, missed.waited_s) == ("client_gone", 0.5)


def test_a_cut_is_delivered_and_its_silent_repeat_expected() -> None:
    with trial(scenario=scenario(ConnectionCut(how="reset"))) as began:
        first = began.ask(site, **DOCUMENT)
        began.ask(site, **DOCUMENT)

        assert first.cut == "reset"
    seen = began.all(RequestSeen)
    assert [it.repeat_of for it in seen] == [None, "x1"]
    assert [it.repeat_of for it in began.all(FaultPlanned)] == [None, "i1"]
    assert began.kinds()[1:5] == ["RequestSeen", "FaultPlanned", "FaultDelivered", "ResponseSeen"]


def test_a_page_is_changed_while_it_is_relayed() -> None:
    with trial(scenario=scenario(Popup())) as began:
        got = began.ask(site, **DOCUMENT)

        assert got.body != PAGE
        assert b"<p>Hello</p>" in got.body
    assert began.the(FaultMissed).reason == "not_rendered"


def test_a_page_that_its_client_left_may_still_report_until_the_trial_ends() -> None:
    with trial(scenario=scenario(Popup())) as began:
        began.ask(site, client=Client(takes=False), **DOCUMENT)

        assert not began.all(FaultMissed)
    assert began.the(FaultMissed).reason == "not_rendered"


def test_a_site_that_is_down_is_said_to_the_user() -> None:
    with trial() as began:
        began.ask(lambda head, body: None, **DOCUMENT)

        assert began.notices == [
            "https://shop.test cannot be reached: the site closed the connection"
        ]
    assert began.the(ResponseSeen).by == "none"


def test_the_canary_answers_with_its_nonce() -> None:
    with trial() as began:
        got = began.ask(site, "https://canary.warex.test/abc", **DOCUMENT)

        assert b"616263" in got.body
    assert began.the(Canary).passed


def outcomes(began: Trial, host: str) -> list[TryOutcome | None]:
    """Return what the next connection to a host meets, from each change of the rules on."""
    target, met = ConnectionTarget.of("connect", host, 443), list[TryOutcome | None]()
    rules = began.lane.injector.connections
    began.lane.on_rules_changed = lambda: met.append(rules.next_outcome(target, 0.0))
    return met


def test_a_models_host_is_not_blocked_once_it_was_called() -> None:
    call = b'{"model": "m", "messages": [{"role": "user", "content": "now?"}]}'
    with trial(scenario=scenario(ConnectionRefused())) as began:
        met = outcomes(began, "llm.test")
        began.ask(site, f"https://llm.test{CHAT}", method="POST", body=call)

        assert met == ["refuse", None]


def test_an_added_rule_blocks_from_the_call_on() -> None:
    fault = b'{"fault": {"kind": "connection_refused"}}'
    with trial(scenario=scenario(HttpError()), capture="namespace") as began:
        met = outcomes(began, "shop.test")
        assert asyncio.run(dispatch(ControlApi(began.lane), "POST", "faults", fault))[0] == 200

        assert met == ["refuse"]


def test_a_failure_of_warex_cuts_the_exchange_and_voids_the_trial() -> None:
    def fails() -> None:
        raise RuntimeError("broken")

    with trial(arm="first_page") as began:
        began.lane.attribution.on_rules_changed = fails
        got = began.ask(site, **DOCUMENT)

        assert got.cut == "reset"
        assert got.requests == []
    assert began.the(HarnessBroke).reason == "RuntimeError: broken"
    assert began.recorder.broken == "RuntimeError: broken"


def test_a_failure_of_a_plugin_in_a_lane_names_its_package(tmp_path: Path) -> None:
    module = "def fails():\n    raise ValueError('no tea')\n"
    entry = "tea = other_code:fails"
    with (
        installed(tmp_path, "warex.faults", entry, other_code=module),
        trial(arm="first_page") as began,
    ):
        began.lane.attribution.on_rules_changed = import_module("other_code").fails
        assert began.ask(site, **DOCUMENT).cut == "reset"

    assert began.recorder.broken == (
        "the package warex-other 1.0 failed in other_code.py, line 2 (ValueError: no tea);"
        " fix, update or uninstall the package"
    )
