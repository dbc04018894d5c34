import json
from typing import Literal

import pytest

from tests.faults.tools import over
from warex.effects import EditToolResponse, Reply
from warex.faults.mcp.mcp_error import McpError
from warex.mcp.changes import ReplaceAnswer
from warex.seeds import KeyedRng


@pytest.mark.parametrize(
    ("error", "status", "answer"),
    [
        ("tool", 200, {"result": {"content": [{"type": "text", "text": "no"}], "isError": True}}),
        ("protocol", 200, {"error": {"code": -32603, "message": "no"}}),
        ("session_lost", 404, {"error": {"code": -32001, "message": "no"}}),
    ],
)
def test_each_error_is_what_a_server_sends(
    error: Literal["tool", "protocol", "session_lost"], status: int, answer: dict[str, object]
) -> None:
    fault = McpError(error=error, text="no")

    (reply,), _ = fault.effects(over("streamable_http"), {}, KeyedRng(1, "r"))

    assert isinstance(reply, Reply)
    message = json.loads(reply.body)
    assert reply.status == status
    assert {name: message[name] for name in answer} == answer


def test_an_error_of_http_is_the_same_in_each_transport_and_not_a_message() -> None:
    fault = McpError(error="http_500")

    assert fault.effects(over("sse"), {}, KeyedRng(1, "r")) == fault.effects(
        over("streamable_http"), {}, KeyedRng(1, "r")
    )


def test_after_the_tool_has_done_its_work_its_own_answer_is_replaced() -> None:
    fault = McpError(stage="response", delay=1.0)

    (effect,), _ = fault.effects(over("sse"), {}, KeyedRng(1, "r"))

    assert isinstance(effect, EditToolResponse)
    assert isinstance(effect.change, ReplaceAnswer)
    assert effect.after == 1.0
