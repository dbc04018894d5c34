import json

import pytest

from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults.lies.soft_error import SoftError
from warex.seeds import KeyedRng


def answered(fault: SoftError, seed: int = 1, path: str = "/api/items", **headers: str) -> Reply:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    exchange = Exchange("1", Request("GET", f"https://shop.test{path}", sent))
    ((effect,), _) = fault.effects(exchange, {}, KeyedRng(seed, "r"))
    assert isinstance(effect, Reply)
    assert effect.status == 200
    return effect


def test_a_page_is_an_error_page_that_says_200() -> None:
    reply = answered(SoftError(status=503, page="nginx"), sec_fetch_dest="document")

    assert b"503 Service" in reply.body
    assert reply.headers["cache-control"] == "no-store"


def test_a_script_is_given_an_error_in_json_in_one_shape_an_api() -> None:
    messages = [answered(SoftError(), seed, sec_fetch_dest="empty").body for seed in range(40)]

    shapes = {tuple(json.loads(body)) for body in messages}
    assert shapes == {("error",), ("success", "error"), ("status", "message", "data")}
    one = [answered(SoftError(), 1, f"/{n}", sec_fetch_dest="empty").body for n in range(9)]
    assert len({tuple(json.loads(body)) for body in one}) == 1


def test_graphql_has_its_own_shape() -> None:
    reply = answered(SoftError(status=404), path="/graphql", sec_fetch_dest="empty")

    document = json.loads(reply.body)
    assert document["data"] is None
    assert document["errors"][0]["extensions"] == {"code": "NOT_FOUND"}


def test_a_script_of_another_origin_may_read_it() -> None:
    reply = answered(SoftError(), sec_fetch_dest="empty", origin="https://app.test")

    assert reply.headers["access-control-allow-origin"] == "https://app.test"


@pytest.mark.parametrize("page", [None, "shop"])
def test_the_explanation_describes_the_fault(page: str | None) -> None:
    words = SoftError(page=page, stage="response").explain()

    assert words.startswith("is handled by the site and then answered 200 with an error page (")
    assert ("family shop" in words) == (page == "shop")
