import json

import pytest

from warex.lane.record.operation_name import operation_name

JSON = "application/json; charset=utf-8"


def _asked(**body: object) -> str:
    return operation_name(json.dumps(body).encode(), JSON)


def test_a_graphql_request_is_recognised_by_its_operation_name() -> None:
    several = "query Cart { a } mutation PlaceOrder { b }"

    assert _asked(operationName="PlaceOrder", query=several) == "mutation PlaceOrder"
    assert _asked(operationName="PlaceOrder", extensions={"persistedQuery": {}}) == "PlaceOrder"


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ("query Cart($id: ID!) { cart(id: $id) { total } }", "query Cart"),
        ("# the cart\nmutation { placeOrder(id: 3) { id } }", "mutation placeOrder"),
        ("{ cart { total } }", "query cart"),
        ("fragment F on Cart { total }", ""),
        ("shoes", ""),
    ],
)
def test_without_a_name_a_document_s_first_field_names_it(document: str, name: str) -> None:
    assert _asked(query=document) == name
    assert operation_name(document.encode(), "application/graphql") == name


def test_a_batch_names_each_operation() -> None:
    batch = [{"operationName": "A"}, {"query": "query B { b }"}]

    assert operation_name(json.dumps(batch).encode(), JSON) == "A,query B"


def test_only_a_json_rpc_method_is_an_operation() -> None:
    assert _asked(jsonrpc="2.0", method="cart.add", id=1) == "cart.add"


def test_a_tool_that_is_called_over_mcp_is_an_operation_of_its_own() -> None:
    call = {"jsonrpc": "2.0", "method": "tools/call", "id": 1}
    assert _asked(**call, params={"name": "browser_click"}) == "tools/call browser_click"
    assert _asked(**call, params={"name": "a b"}) == "tools/call"
    assert _asked(**call, params=[1]) == "tools/call"
    assert _asked(jsonrpc="2.0", method="cart.add", params={"name": "x"}) == "cart.add"
    assert _asked(method="express") == ""


@pytest.mark.parametrize("body", [b"", b"{", b"[1, null]", b'{"operationName": 3}', b"\xff\xfe"])
def test_a_body_without_an_operation_names_none(body: bytes) -> None:
    assert operation_name(body, JSON) == ""


def test_a_name_that_is_not_a_name_is_left_out() -> None:
    assert _asked(operationName="my password is hunter2") == ""


def test_a_form_is_not_read() -> None:
    assert operation_name(b"operationName=A", "application/x-www-form-urlencoded") == ""
