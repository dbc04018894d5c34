from typing import Any

import pytest
from mitmproxy.test import tflow

from warex.clock import Clock
from warex.lane.record.recorder import Recorder
from warex.proxy.hooks import base
from warex.proxy.hooks.base import Hooks, client_of, fail_closed


class Breaking(Hooks):
    @fail_closed
    def at_once(self, flow: Any) -> None:
        raise ZeroDivisionError("at once")

    @fail_closed
    async def later(self, flow: Any) -> None:
        raise ZeroDivisionError("later")

    @fail_closed
    def fine(self, flow: Any) -> None:
        return None


@pytest.fixture
def resets(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    seen: list[Any] = []
    monkeypatch.setattr(base, "reset", seen.append)
    return seen


def test_a_hook_that_breaks_cuts_the_exchange_and_voids_the_trial(resets: list[Any]) -> None:
    breaking, flow = Breaking(Recorder(Clock())), tflow.tflow()

    assert breaking.at_once(flow) is None

    assert breaking.recorder.broken == "ZeroDivisionError: at once"
    assert resets == [flow.client_conn]
    assert flow.error is not None


async def test_a_hook_that_breaks_while_awaited_voids_the_trial_too(resets: list[Any]) -> None:
    breaking, flow = Breaking(Recorder(Clock())), tflow.tflow()

    pending = breaking.later(flow)
    assert pending is not None
    await pending

    assert breaking.recorder.broken == "ZeroDivisionError: later"
    assert resets == [flow.client_conn]


def test_a_hook_that_works_touches_nothing(resets: list[Any]) -> None:
    working = Breaking(Recorder(Clock()))

    working.fine(tflow.tflow())

    assert working.recorder.broken is None
    assert not resets


def test_the_client_is_found_in_whatever_a_hook_is_given() -> None:
    flow, relayed = tflow.tflow(), tflow.ttcpflow()

    assert client_of(flow) is flow.client_conn
    assert client_of(relayed) is relayed.client_conn
    assert client_of(flow.client_conn) is flow.client_conn
    assert client_of(None) is None
