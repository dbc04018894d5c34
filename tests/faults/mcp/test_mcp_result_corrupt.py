import pytest
from pydantic import ValidationError

from tests.faults.tools import over
from warex.effects import EditToolResponse
from warex.faults.mcp.mcp_result_corrupt import McpResultCorrupt
from warex.mcp.changes import CorruptResult
from warex.seeds import KeyedRng


def test_the_tools_own_answer_is_damaged() -> None:
    effects, _ = McpResultCorrupt(how="empty").effects(over("sse"), {}, KeyedRng(1, "r"))

    assert effects == (EditToolResponse(CorruptResult("empty")),)


def test_before_the_tool_has_worked_there_is_no_result() -> None:
    with pytest.raises(ValidationError, match="stage"):
        McpResultCorrupt.model_validate({"stage": "request"})
