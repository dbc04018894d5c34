"""Events are redacted once, on their way out; what is shortened is redacted before."""

import json
import tracemalloc
from typing import Any

import pytest

from warex.traces import Event, FaultPlanned, McpCall, RequestRefused, RequestSeen
from warex.traces.redaction.event_lines import EventLines
from warex.traces.redaction.redactor import Redactor

TOKEN = "ghp_" + "0123456789abcdefghijABCDEFGHIJ012345"


def written(event: Event) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(EventLines(Redactor()).of(event))
    return line


def call(**more: Any) -> McpCall:
    fixed: Any = {"exchange": "x1", "url": "https://tools.test/mcp", "transport": "sse", "id": 1}
    timed: Any = {"method": "tools/call", "tool": "look", "began": 0.0, "latency_s": 0.0}
    return McpCall(**fixed, **timed, complete=True, **more)


@pytest.mark.parametrize("name", ["arguments", "result"])
def test_no_secret_stays_at_the_end_of_a_shortened_tool_value(
    name: str,
) -> None:
    value = {"content": [{"type": "text", "text": "x" * 262_100 + f" {TOKEN} " + "y" * 100}]}

    line = written(call(**{name: value}))

    retained = line[name]["content"][0]["text"]
    assert line["shortened"]
    assert 262_100 <= len(retained) < 262_300
    assert "ghp_" not in retained


def test_the_error_of_a_tool_call_is_short_and_redacted() -> None:
    line = written(call(error="x" * 980 + f" {TOKEN} " + "y" * 5000))

    assert len(line["error"]) == 1000
    assert "ghp_" not in line["error"]
    assert not line["shortened"]


def test_the_line_of_a_refused_request_is_short_and_redacted() -> None:
    line = "GET /a?token=s3cret " + "x" * 155 + f" {TOKEN} "

    answer = written(
        RequestRefused(connection="c1", status=400, line=line, reason="two Host lines")
    )

    assert answer["line"].startswith("GET /a?token=[redacted] xxx")
    assert len(answer["line"]) <= 200
    assert "ghp_" not in answer["line"]


def test_the_ledger_has_no_secret_of_a_url() -> None:
    planned = FaultPlanned(
        injection="i1",
        exchange="x1",
        rule="r",
        fault={"kind": "http_error"},
        stage="request",
        scope="",
        ordinal=1,
        effects=("reply",),
        url="https://shop.example/?token=s3cret",
    )

    assert written(planned)["url"] == "https://shop.example/?token=[redacted]"


@pytest.mark.parametrize("place", ["header", "url"])
def test_long_texts_of_others_are_not_kept_in_memory(place: str) -> None:
    lines, url = EventLines(Redactor()), "https://shop.example/"

    def write(number: int) -> None:
        text = f"{number} " * 10_000
        event = RequestSeen(
            exchange=f"x{number}",
            method="GET",
            url=url + text if place == "url" else url,
            resource="other",
            top_level=False,
            http_version="HTTP/1.1",
            connection="c1",
            size=0,
            headers=[("User-Agent", text)] if place == "header" else [],
        )
        assert f"{number} " in lines.of(event)

    write(0)
    tracemalloc.start()
    try:
        for number in range(1, 101):
            write(number)
        retained, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert retained < 500_000


@pytest.mark.parametrize(
    "value", ['"q" \\ {"headers":[]}', "é €", "not UTF-8: \udc80", "a " * 2500, "b " * 10_000]
)
def test_a_repeated_head_is_written_the_same(value: str) -> None:
    lines = EventLines(Redactor())
    event = RequestSeen(
        exchange="x1",
        method="GET",
        url="https://shop.example/",
        resource="other",
        top_level=False,
        http_version="HTTP/1.1",
        connection="c1",
        size=0,
        headers=[("User-Agent", value), ("Authorization", f"Bearer {TOKEN}")],
    )
    former, latter = (json.loads(lines.of(event)) for _ in range(2))
    assert former == latter
    (_, agent), (_, authorization) = former["headers"]
    assert agent == value
    assert TOKEN not in authorization
