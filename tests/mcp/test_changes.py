import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from warex.mcp.changes import (
    Change,
    CorruptResult,
    RemoveTools,
    ReplaceAnswer,
    apply_change,
    tool_failure,
)

_json: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["content", "text", "resource", "tools", "name"]), inner)
    ),
    max_leaves=8,
)
CHANGES: list[Change] = [
    ReplaceAnswer(tool_failure("no")),
    RemoveTools("a*"),
    CorruptResult("truncated"),
    CorruptResult("garbled"),
    CorruptResult("empty"),
]


def message(**result: JsonValue) -> dict[str, JsonValue]:
    return {"jsonrpc": "2.0", "id": "7", "result": {"_meta": {"a": 1}, **result}}


def after(change: Change, **result: JsonValue) -> JsonValue:
    document = json.loads(apply_change(message(**result), change))
    assert document["id"] == "7"
    retained: JsonValue = document.get("result", document.get("error"))
    return retained


def test_a_truncated_result_has_the_first_half_of_each_text() -> None:
    block: JsonValue = [{"type": "text", "text": "Ünïcode!"}, {"resource": {"text": "abcd"}}]
    got = after(CorruptResult("truncated"), content=block, structuredContent={"n": 1, "t": ["xy"]})

    assert got == {
        "_meta": {"a": 1},
        "content": [{"type": "text", "text": "Ünïc"}, {"resource": {"text": "ab"}}],
        "structuredContent": {"n": 1, "t": ["x"]},
    }


def test_a_garbled_result_loses_every_third_letter() -> None:
    got = after(CorruptResult("garbled"), content=[{"type": "text", "text": "abcdef"}])

    assert got == {"_meta": {"a": 1}, "content": [{"type": "text", "text": "a\ufffdcd\ufffdf"}]}


def test_an_empty_result_has_no_content_of_either_kind() -> None:
    got = after(CorruptResult("empty"), content=[{"type": "image"}], structuredContent={"n": 1})

    assert got == {"_meta": {"a": 1}, "content": []}


def test_invalid_json_is_the_beginning_of_the_message() -> None:
    data = apply_change(message(content=[]), CorruptResult("invalid_json"))

    assert data.startswith(b'{"jsonrpc"')
    with pytest.raises(ValueError, match="char"):
        json.loads(data)


def test_a_list_lacks_the_tools_that_fit_and_no_other() -> None:
    tools: JsonValue = [{"name": "ask"}, {"name": "buy"}]

    assert after(RemoveTools("a*"), tools=tools) == {"_meta": {"a": 1}, "tools": [{"name": "buy"}]}


def test_an_error_is_not_damaged_any_more() -> None:
    error: dict[str, JsonValue] = {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "a"}}

    assert json.loads(apply_change(error, CorruptResult("truncated"))) == error
    assert json.loads(apply_change(error, RemoveTools("*"))) == error


@settings(max_examples=60)
@given(_json, st.sampled_from(CHANGES))
def test_a_changed_message_stays_one_line(result: JsonValue, change: Change) -> None:
    data = apply_change({"jsonrpc": "2.0", "id": 1, "result": result}, change)

    assert json.loads(data)["id"] == 1
    assert b"\n" not in data
