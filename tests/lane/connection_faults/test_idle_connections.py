"""What comes into force closes the connections that it is about."""

from typing import Any

import pytest

from tests.lane.support.played import Trial, answer, trial
from tests.proxy.support.lanes import scenario
from warex.engine.handler import Connection
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.faults.connection.tls_error import TlsError
from warex.faults.server.http_error import HttpError
from warex.scenarios import Scenario, Trigger

EXPIRED = TlsError(how="expired")


def site(head: RequestHead, body: bytes) -> tuple[ResponseHead, bytes]:
    return answer()


def used(began: Trial, host: str = "shop.test", **fields: Any) -> Connection:
    connection = began.connect(host)
    began.ask(site, f"https://{host}/", connection=connection, **fields)
    return connection


LATER = scenario(
    EXPIRED, Trigger(always=True, between=(5, 600)), match={"url": "https://shop.test"}
)


def test_a_window_that_opens_closes_the_connections_of_its_sites_once() -> None:
    with trial(scenario=LATER) as began:
        shop, _other = used(began), used(began, "other.test")
        began.engine.advance(4.9)
        assert began.engine.closed == []
        began.engine.advance(0.2)
        began.engine.advance(60)

        assert began.engine.closed == [shop]


@pytest.mark.parametrize("arm", ["first_llm_call"])
def test_arming_closes_them_too(arm: str) -> None:
    of = scenario(EXPIRED, match={"url": "https://shop.test"})
    with trial(scenario=of.model_copy(update={"arm": arm})) as began:
        shop = used(began)
        began.lane.arm()

        assert began.engine.closed == [shop]


def test_a_websocket_is_in_use_until_it_ends() -> None:
    with trial(scenario=LATER) as began:
        used(began, upgrade="websocket")
        began.engine.advance(6)

        assert began.engine.closed == []


def test_what_has_closed_is_not_closed_again() -> None:
    with trial(scenario=LATER) as began:
        began.lane.closed(used(began))
        began.engine.advance(6)

        assert began.engine.closed == []


def test_a_rule_about_exchanges_closes_nothing() -> None:
    with trial(scenario=scenario(HttpError(), Trigger(always=True, between=(5, 600)))) as began:
        used(began)
        began.engine.advance(6)

        assert began.engine.closed == []


def test_another_task_begins_with_new_tries() -> None:
    of: Scenario = scenario(EXPIRED, Trigger(first=1), match={"url": "https://shop.test"})
    with trial(scenario=of) as began:
        shop = used(began)
        began.lane.begin_task("next", 1, "control")

        assert shop in began.engine.closed
