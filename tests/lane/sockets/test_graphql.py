import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.lane.sockets.graphql import GraphqlOperations, graphql_operations

QUERY = "subscription Prices($id: ID!) { price(id: $id) }"


def sent(**message: object) -> bytes:
    return json.dumps(message).encode()


@pytest.mark.parametrize(
    ("protocol", "is_graphql"),
    [("graphql-transport-ws", True), (" graphql-ws", True), ("", False), ("mqtt", False)],
)
def test_the_accepted_subprotocol_says_what_it_is(protocol: str, is_graphql: bool) -> None:
    assert (graphql_operations(protocol) is not None) == is_graphql


def test_an_answer_has_the_operation_of_its_identifier() -> None:
    names = GraphqlOperations()
    begin = sent(id="a", type="subscribe", payload={"query": QUERY})
    other = sent(id="b", type="subscribe", payload={"operationName": "Seats", "query": "{ a }"})

    assert names.name(begin, from_client=True) == "subscription Prices"
    assert names.name(other, from_client=True) == "Seats"
    assert names.name(sent(id="a", type="next"), from_client=False) == "subscription Prices"
    assert names.name(sent(id="b", type="error"), from_client=False) == "Seats"
    assert names.name(sent(id="b", type="next"), from_client=False) == ""


def test_many_open_operations_are_not_all_remembered() -> None:
    names = GraphqlOperations()
    for number in range(1500):
        names.name(sent(id=str(number), type="start", payload={"query": QUERY}), from_client=True)

    assert names.name(sent(id="1499", type="data"), from_client=False) == ""
    assert names.name(b" " * 200_000, from_client=True) == ""


@given(st.binary(), st.booleans())
def test_no_message_makes_it_fail(content: bytes, from_client: bool) -> None:
    GraphqlOperations().name(content, from_client=from_client)
