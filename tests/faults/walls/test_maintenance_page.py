from typing import Literal

import pytest

from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults.walls.maintenance_page import MaintenancePage
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/a", {"sec-fetch-dest": "document"}))


def reply_of(fault: MaintenancePage, seed: int = 1) -> Reply:
    (reply,), _ = fault.effects(PAGE, {}, KeyedRng(seed, "rule"))
    assert isinstance(reply, Reply)
    return reply


@pytest.mark.parametrize("status", [503, 200])
def test_the_page_comes_with_the_status_and_no_cache_keeps_it(status: Literal[503, 200]) -> None:
    reply = reply_of(MaintenancePage(status=status))

    assert reply.status == status
    assert reply.headers["content-type"].startswith("text/html")
    assert reply.headers["cache-control"] == "no-store"


def test_a_wait_is_reported_only_if_there_is_one() -> None:
    assert "retry-after" not in reply_of(MaintenancePage()).headers
    assert reply_of(MaintenancePage(retry_after=120)).headers["retry-after"] == "120"


def test_the_seed_chooses_the_look_and_one_seed_gives_the_same_bytes() -> None:
    bodies = [reply_of(MaintenancePage(), seed).body for seed in range(20)]

    assert len(set(bodies)) > 5
    assert bodies == [reply_of(MaintenancePage(), seed).body for seed in range(20)]
