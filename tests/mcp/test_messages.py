import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warex.mcp import (
    answers,
    cancelled,
    is_mcp,
    is_stream_of_tools,
    read_messages,
    requests,
)
from warex.mcp.content import detach_blobs, truncated

_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
_messages = st.fixed_dictionaries(
    {"jsonrpc": st.sampled_from(["2.0", "1.0", 2])},
    optional={name: _json for name in ("id", "params", "result", "error")}
    | {"method": st.sampled_from(["tools/call", "notifications/cancelled"]) | _json},
)


def read(*messages: Any) -> list[dict[str, Any]]:
    return read_messages(json.dumps(messages if len(messages) != 1 else messages[0]).encode())


def test_a_call_has_its_tool_and_its_arguments() -> None:
    params = {"name": "click", "arguments": {"ref": "e3"}}

    (request,) = requests(
        read({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    )

    assert (request.key, request.tool, request.arguments) == (7, "click", {"ref": "e3"})


def test_another_request_calls_no_tool_and_keeps_all_its_parameters() -> None:
    message = {"jsonrpc": "2.0", "id": "a", "method": "prompts/get", "params": {"name": "hello"}}

    (request,) = requests(read(message))

    assert (request.key, request.tool, request.arguments) == ("a", "", {"name": "hello"})


def test_a_message_without_an_id_is_a_notification() -> None:
    assert [*requests(read({"jsonrpc": "2.0", "method": "notifications/initialized"}))] == []


def test_each_message_of_a_batch_counts() -> None:
    one, two = ({"jsonrpc": "2.0", "id": n, "method": "ping"} for n in (1, 2))

    assert [request.key for request in requests(read(one, two))] == [1, 2]


@pytest.mark.parametrize("odd", [None, True, [1], {"a": 1}])
def test_an_id_of_another_type_matches_no_answer(odd: Any) -> None:
    (request,) = requests(read({"jsonrpc": "2.0", "id": odd, "method": "ping"}))

    assert request.key is None


def test_a_number_is_not_text() -> None:
    one, two = answers(read(*({"jsonrpc": "2.0", "id": id, "result": {}} for id in (1, "1"))))

    assert one.key != two.key


@pytest.mark.parametrize(
    ("message", "error", "code"),
    [
        ({"result": {"content": []}}, None, None),
        ({"result": None}, None, None),
        ({"result": {"isError": True, "content": [{"text": "no"}]}}, "no", None),
        ({"result": {"isError": True}}, "the tool says that it failed", None),
        ({"error": {"code": -32601, "message": "Unknown"}}, "Unknown", -32601),
        ({"error": "broken"}, "an error without a message", 0),
        ({"error": {"code": True, "message": 3}}, "an error without a message", 0),
    ],
)
def test_an_answer_shows_whether_the_call_failed_and_why(
    message: dict[str, Any], error: str | None, code: int | None
) -> None:
    (answer,) = answers(read({"jsonrpc": "2.0", "id": 1, **message}))

    assert (answer.error, answer.code) == (error, code)


def test_a_cancelled_request_is_read_with_its_reason() -> None:
    params = {"requestId": 3, "reason": "timeout"}
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}

    assert [*cancelled(read(message))] == [(3, "timeout")]


@pytest.mark.parametrize(
    ("message", "headers", "ours"),
    [
        ({"method": "tools/call"}, {}, True),
        ({"method": "initialize", "params": {"protocolVersion": "2025-03-26"}}, {}, True),
        ({"method": "initialize", "params": {"capabilities": {}, "rootUri": None}}, {}, False),
        ({"method": "eth_call"}, {}, False),
        ({"method": "ping"}, {}, False),
        ({"method": "ping"}, {"mcp-session-id": "1"}, True),
        ({"method": "anything"}, {"mcp-protocol-version": "2026-07-28"}, True),
    ],
)
def test_mcp_is_recognised_by_its_shape_and_headers(
    message: dict[str, Any], headers: dict[str, str], *, ours: bool
) -> None:
    assert is_mcp(read({"jsonrpc": "2.0", "id": 1, **message}), headers) is ours


@pytest.mark.parametrize(
    ("url", "headers", "ours"),
    [
        ("http://127.0.0.1:8931/sse", {"user-agent": "python-httpx/0.28.1"}, True),
        ("http://127.0.0.1:8931/sse/?key=1", {}, True),
        ("https://tools.test/events", {"mcp-protocol-version": "2025-06-18"}, True),
        ("https://shop.test/events", {}, False),
        ("https://shop.test/posse", {}, False),
        ("https://shop.test/sse", {"user-agent": "Mozilla/5.0 (X11)"}, False),
        ("https://shop.test/sse", {"referer": "https://shop.test/"}, False),
    ],
)
def test_a_programs_stream_of_tools_is_recognised_by_headers_or_path(
    url: str, headers: dict[str, str], *, ours: bool
) -> None:
    assert is_stream_of_tools(url, headers) is ours


@pytest.mark.parametrize(
    "body",
    [b"", b"[" * 100_000, b'{"a":' * 100_000, b'{"jsonrpc": "2.0"', b'"2.0"', b"\xff{", b"[1]"],
)
def test_other_json_is_not_a_message(body: bytes) -> None:
    assert read_messages(body) == []


@settings(max_examples=60)
@given(
    st.binary(max_size=60) | st.lists(_messages, max_size=3).map(lambda it: json.dumps(it).encode())
)
def test_nothing_that_is_sent_raises(body: bytes) -> None:
    messages = read_messages(body)

    for request in requests(messages):
        assert isinstance(request.tool, str)
        truncated(request.arguments)
    for answer in answers(messages):
        detach_blobs(answer.result, bytes)
    assert len([*cancelled(messages)]) <= len(messages)
    assert is_mcp(messages, {}) in (True, False)
