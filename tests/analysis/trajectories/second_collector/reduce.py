"""Reduce a trial's trace to what explains it, without default values."""

import json
from pathlib import Path
from typing import Any, get_args

import msgspec

from tests.analysis.trajectories.strip_trace import EVENTS
from warex.traces.events import Event

_RETAINED = EVENTS | {"witness", "mcp_call", "llm_retried", "llm_unread", "harness_broke"}
_HEADERS = {
    *("referer", "cache-control", "origin", "location", "retry-after", "content-type"),
    *("sec-fetch-user", "sec-fetch-mode", "sec-fetch-dest", "sec-fetch-site", "sec-purpose"),
    *("user-agent", "service-worker", "x-stainless-retry-count"),
}
_LONGEST = 420
_DEFAULTS = {
    kind.__struct_config__.tag: {
        field.name: msgspec.to_builtins(field.default)
        if field.default_factory is msgspec.NODEFAULT
        else field.default_factory()
        for field in msgspec.structs.fields(kind)
        if not field.required
    }
    for kind in get_args(Event.__value__)
}


def reduce(path: Path) -> list[str]:
    """Return the reduced lines of an `events.jsonl`."""
    lines: list[str] = []
    events: list[dict[str, Any]] = [json.loads(x) for x in path.read_text("utf-8").splitlines()]
    for event in events:
        if event["event"] in _RETAINED:
            event["seq"] = len(lines) + 1
            lines.append(json.dumps(_small(event), ensure_ascii=False, separators=(",", ":")))
    return lines


def delivered(lines: list[str]) -> int:
    """Return the number of delivered injections; the repeats of an occurrence count once."""
    events = [json.loads(line) for line in lines]
    repeats = {e["injection"] for e in events if "injection" in e and e.get("repeat_of")}
    arrived = {e["injection"] for e in events if e["event"] == "fault_delivered"}
    return len(arrived - repeats)


def _small(event: dict[str, Any]) -> dict[str, Any]:
    if "headers" in event:
        event["headers"] = [
            [name, value]
            for name, value in event["headers"]
            if name.lower() in _HEADERS and not value.startswith("Mozilla")
        ]
    event["at"] = event["at"][:10]
    match event["event"]:
        case "llm_call":
            event |= {"messages": _last(event["messages"]), "tools": None}
        case "response":
            event["timings"] = {"total": event["timings"]["total"]}
            event["http_version"] = None
        case "trial_began":
            event["versions"] = {}
            event["scenario"] = _without_nulls(event["scenario"])
    defaults = _DEFAULTS[event["event"]]
    return {k: v for k, v in event.items() if k not in defaults or v != defaults[k]}


def _last(messages: Any) -> Any:
    """Return the first message, and those since the model's last answer, shortened."""
    retained: list[Any] = []
    for message in reversed(messages or []):
        if not isinstance(message, dict) or message.get("role") == "assistant":
            break
        if message.get("type") in ("function_call", "computer_call", "message"):
            break
        retained.insert(0, _shortened(message))
    return retained


def _shortened(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]} …"
    if isinstance(value, dict):
        return {k: _shortened(v) for k, v in value.items()}
    return [_shortened(v) for v in value] if isinstance(value, list) else value


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(v) for v in value] if isinstance(value, list) else value
