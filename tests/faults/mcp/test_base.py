import json

from tests.faults.tools import CALL, LIST, over
from warex.effects import Delay, PushToolEvent, Reply
from warex.exchange import Exchange, Request
from warex.faults.mcp.mcp_error import McpError
from warex.mcp.exchange import McpExchange
from warex.seeds import KeyedRng


def test_what_is_not_a_call_is_judged_as_an_example_of_one() -> None:
    page = Exchange("x1", Request("GET", "https://shop.test/"))

    (reply,), _ = McpError().effects(page, {}, KeyedRng(1, "r"))

    assert isinstance(reply, Reply)
    assert json.loads(reply.body)["result"]["isError"] is True


def test_streamable_http_answers_the_request_itself() -> None:
    (pending, reply), _ = McpError(delay=2.0).effects(over("streamable_http"), {}, KeyedRng(1, "r"))

    assert pending == Delay(2.0)
    assert isinstance(reply, Reply)
    assert (reply.status, json.loads(reply.body)["id"]) == (200, 7)


def test_the_older_mcp_transport_answers_on_its_event_stream() -> None:
    (effects, reply), _ = McpError(delay=2.0).effects(over("sse"), {}, KeyedRng(1, "r"))

    assert isinstance(effects, PushToolEvent)
    assert (json.loads(effects.message)["id"], effects.after) == (7, 2.0)
    assert isinstance(reply, Reply)
    assert reply.status == 202


def test_each_request_of_a_batch_is_answered() -> None:
    batch: McpExchange = over("streamable_http", CALL, LIST)

    (reply,), _ = McpError().effects(batch, {}, KeyedRng(1, "r"))

    assert isinstance(reply, Reply)
    assert [message["id"] for message in json.loads(reply.body)] == [7, 8]
