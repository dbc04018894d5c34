"""Reduce a trial's trace to the events that matter, without default values.

A model call is kept only as `llm_call`, not as an exchange as well.
"""

import json
from pathlib import Path
from typing import Any, get_args

import msgspec

from tests.analysis.trajectories.strip_trace import EVENTS
from warex.traces.events import Event

_ASKED = {"referer", "cache-control", "sec-fetch-user", "sec-fetch-mode", "sec-fetch-dest"}
_ANSWERED = {"location"}
_EXCERPT = 220
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
"""The default values of each kind of event."""


def shrink(path: Path) -> list[str]:
    """Return the reduced lines of an `events.jsonl`."""
    lines: list[str] = []
    events: list[dict[str, Any]] = [json.loads(x) for x in path.read_text("utf-8").splitlines()]
    calls = {event["exchange"] for event in events if event["event"] == "llm_call"}
    for event in events:
        of_model = event["event"] in ("request", "response") and event["exchange"] in calls
        if event["event"] in EVENTS and not of_model:
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
        retained = _ASKED if event["event"] == "request" else _ANSWERED
        event["headers"] = [pair for pair in event["headers"] if pair[0].lower() in retained]
    event["at"] = event["at"][:10]
    match event["event"]:
        case "llm_call":
            event |= {"messages": _excerpt(event["messages"]), "tools": None}
        case "response":
            event["timings"] = {"total": event["timings"]["total"]}
            event["http_version"] = None
        case "trial_began":
            event["versions"] = {}
            event["scenario"] = _without_nulls(event["scenario"])
    defaults = _DEFAULTS[event["event"]]
    return {k: v for k, v in event.items() if k not in defaults or v != defaults[k]}


def _excerpt(messages: Any) -> list[dict[str, str]]:
    last = messages[-1] if messages else {}
    content = last.get("content", "") if isinstance(last, dict) else ""
    return [{"role": "user", "content": str(content)[-_EXCERPT:]}] if content else []


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(v) for v in value] if isinstance(value, list) else value
