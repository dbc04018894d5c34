import json

from tests.faults.tools import CALL, LIST, over
from warex.effects import EditToolResponse, Reply
from warex.faults.mcp.mcp_tool_missing import McpToolMissing
from warex.mcp.changes import RemoveTools
from warex.seeds import KeyedRng


def test_the_fault_is_about_the_list_and_calls_of_missing_tools() -> None:
    missing = McpToolMissing(tool="look*")

    assert missing.asks_tools("tools/list", "")
    assert missing.asks_tools("tools/call", "look_around")
    assert not missing.asks_tools("tools/call", "buy")
    assert not missing.asks_tools("initialize", "")


def test_the_list_lacks_it() -> None:
    effects, _ = McpToolMissing(tool="look").effects(over("sse", LIST), {}, KeyedRng(1, "r"))

    assert effects == (EditToolResponse(RemoveTools("look")),)


def test_a_call_of_it_is_unknown() -> None:
    (reply,), _ = McpToolMissing().effects(over("streamable_http", CALL), {}, KeyedRng(1, "r"))

    assert isinstance(reply, Reply)
    error = {"code": -32602, "message": "Unknown tool: look"}
    assert json.loads(reply.body) == {"jsonrpc": "2.0", "id": 7, "error": error}
