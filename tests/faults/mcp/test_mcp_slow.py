from tests.faults.tools import over
from warex.effects import Delay, EditToolResponse
from warex.faults.mcp.mcp_slow import McpSlow
from warex.seeds import KeyedRng


def test_the_call_is_held_and_in_the_older_transport_its_answer() -> None:
    slow = McpSlow(delay=3.0)

    assert slow.effects(over("streamable_http"), {}, KeyedRng(1, "r"))[0] == (Delay(3.0),)
    assert slow.effects(over("sse"), {}, KeyedRng(1, "r"))[0] == (EditToolResponse(None, 3.0),)
