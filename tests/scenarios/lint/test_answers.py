from typing import Any

import pytest

from warex.faults import CATALOGUE, ConnectionFault
from warex.faults.llm.base import LlmFault
from warex.faults.mcp.base import McpFault
from warex.scenarios import Scenario
from warex.scenarios.lint.linter import lint

CHANGING = [
    {"kind": "json_corruption"},
    {"kind": "partial_list"},
    {"kind": "empty_result"},
    {"kind": "prompt_injection", "where": "json"},
    {"kind": "slow_page"},
    {"kind": "stale_response"},
    {"kind": "header_change"},
]


def warnings_of(fault: dict[str, Any], match: dict[str, Any]) -> str:
    rule = {"name": "a", "fault": fault, "match": match, "trigger": {"always": True}}
    made = Scenario.model_validate({"schema_version": 1, "name": "n", "rules": [rule]})
    return "\n".join(lint(made))


@pytest.mark.parametrize("fault", CHANGING, ids=lambda it: it["kind"])
@pytest.mark.parametrize("match", [{"resource": ["websocket"]}, {"url": "wss://shop.example/*"}])
def test_a_fault_of_a_body_hits_no_websocket(fault: dict[str, Any], match: dict[str, Any]) -> None:
    assert "can never apply" in warnings_of(fault, match)


@pytest.mark.parametrize("kind", ["http_error", "connection_cut", "maintenance_page", "rate_limit"])
def test_a_fault_that_answers_or_cuts_hits_the_handshake(kind: str) -> None:
    assert "can never apply" not in warnings_of({"kind": kind}, {"resource": ["websocket"]})


def test_a_limited_rate_holds_for_messages_of_websockets_too() -> None:
    for resource in (["websocket"], ["xhr", "websocket"]):
        assert not warnings_of({"kind": "bandwidth"}, {"resource": resource})


def test_a_body_fault_warns_that_websockets_pass() -> None:
    message = warnings_of({"kind": "json_corruption"}, {"resource": ["xhr", "websocket"]})
    assert "hits no WebSocket, though its `resource` names them" in message
    assert "hits no WebSocket" not in warnings_of(
        {"kind": "http_error"}, {"resource": ["websocket"]}
    )


@pytest.mark.parametrize("action", ["refuse", "drop"])
def test_a_fault_of_websockets_hits_nothing_else(action: str) -> None:
    fault = {"kind": "websocket_fault", "action": action}
    assert "and the rule about document only; name websocket" in warnings_of(
        fault, {"resource": "document"}
    )
    assert "leave match.llm out, and name the host" in warnings_of(fault, {"llm": {}})
    assert not warnings_of(
        fault, {"resource": ["document", "websocket"], "url": "https://shop.test/a"}
    )
    assert not warnings_of(fault, {"url": "wss://shop.test/*"})


@pytest.mark.parametrize("action", ["refuse", "drop"])
def test_a_fault_of_streams_hits_nothing_else(action: str) -> None:
    fault = {"kind": "sse_fault", "action": action}
    assert "the rule about text/html only" in warnings_of(fault, {"content_type": "text/html"})
    assert "and the rule about WebSockets" in warnings_of(fault, {"resource": "websocket"})
    assert "about the streams of sites" in warnings_of(fault, {"llm": {}})
    assert "can never" not in warnings_of(fault, {"content_type": "text/*", "resource": "xhr"})


def test_a_call_to_a_model_over_a_websocket_is_not_hit() -> None:
    assert "over a WebSocket" in warnings_of(
        {"kind": "llm_slow"}, {"llm": {}, "url": "wss://m.example/*"}
    )


@pytest.mark.parametrize(
    ("fault", "match", "why"),
    [
        ("json_corruption", {"content_type": "text/event-stream"}, "of type text/event-stream"),
        ("json_corruption", {"content_type": "application/grpc"}, "of type application/grpc"),
        ("json_corruption", {"content_type": "text/html"}, "of type text/html"),
        ("popup", {"content_type": "application/json"}, "of type application/json"),
        ("json_corruption", {"status": [204, 304]}, "status 204 and 304 has none"),
        ("json_corruption", {"method": "HEAD"}, "the answer to HEAD has none"),
        ("json_corruption", {"content_type": "application/*"}, ""),
        ("json_corruption", {"content_type": ["text/html", "application/json"]}, ""),
        ("json_corruption", {"content_type": "application/vnd.api+json"}, ""),
        ("json_corruption", {"status": [200, 304]}, ""),
        ("popup", {"content_type": "text/html"}, ""),
    ],
)
def test_a_fault_that_changes_no_answer_of_such_a_kind_is_reported(
    fault: str, match: dict[str, Any], why: str
) -> None:
    message = warnings_of({"kind": fault}, match)
    assert why in message if why else "can never apply" not in message


@pytest.mark.parametrize(
    ("fault", "about"),
    [
        ({"kind": "json_corruption"}, "data"),
        ({"kind": "partial_list"}, "data"),
        ({"kind": "prompt_injection", "where": "json"}, "data"),
        ({"kind": "sse_fault", "action": "drop"}, "streams"),
    ],
)
def test_a_fault_of_data_in_a_rule_about_documents_is_reported(
    fault: dict[str, Any], about: str
) -> None:
    kind = fault["kind"]
    assert f"{kind} about {about}, which scripts ask for" in warnings_of(
        fault, {"resource": "document"}
    )
    assert "which scripts ask for" not in warnings_of(fault, {"resource": ["document", "xhr"]})
    assert "which scripts ask for" not in warnings_of({"kind": "popup"}, {"resource": "document"})


def test_a_limit_of_uploads_hits_no_request_without_a_body() -> None:
    up = {"kind": "bandwidth", "up": 1000}
    assert "can never apply: bandwidth limits the bodies of requests only" in warnings_of(
        up, {"method": "GET"}
    )
    assert "can never apply" not in warnings_of(up, {"method": ["GET", "POST"]})
    assert "can never apply" not in warnings_of({**up, "down": 1000}, {"method": "GET"})


def test_every_fault_of_a_site_can_change_something() -> None:
    for kind in CATALOGUE:
        if not issubclass(kind, (ConnectionFault, LlmFault, McpFault)):
            assert "changes nothing" not in warnings_of(
                {"kind": kind.model_fields["kind"].default}, {}
            )
