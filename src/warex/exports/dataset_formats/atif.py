"""Trajectories of wanted answers in Harbor's ATIF (RFC 0001) 1.7.

Each row is a trajectory whose last step is to be learnt. The agent's earlier steps in its prompt
have ``is_copied_context``, which excludes them from training: no turn is trained on twice.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from warex.exports.dataset_formats import LOAD_LINES, DatasetFormat, wanted_rows
from warex.exports.rows import ChatMessage, Row

VERSION: Final = "ATIF-v1.7"
_MEDIA: Final = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


def trajectory(row: Row) -> dict[str, Any]:
    """Return a row as a trajectory."""
    files = iter(row.images)
    steps: list[dict[str, Any]] = []
    for message in row.messages:
        content = _content(message.get("content"), files)
        if message["role"] == "tool" and steps and steps[-1]["source"] == "agent":
            _observed(steps[-1], message, content)
        else:
            steps.append({"step_id": len(steps) + 1, **_step(message, content)})
    for step in steps[:-1]:
        if step["source"] == "agent":
            step["is_copied_context"] = True
    last = steps[-1]
    last["extra"] = {"kind": row.kind, "relabelled": row.relabelled}
    if not row.relabelled:
        last["llm_call_count"] = 1
    agent: dict[str, Any] = {"name": row.agent, "version": "unknown"}
    if row.tools:
        agent["tool_definitions"] = row.tools
    facts = row.model_dump(mode="json", exclude={"messages", "tools", "images"})
    return {
        "schema_version": VERSION,
        "session_id": f"{row.run}/{row.trial}",
        "trajectory_id": row.id,
        "agent": agent,
        "steps": steps,
        "notes": "One step of a trial: the last is to be learnt, those before are its context.",
        "extra": facts,
    }


def _step(message: ChatMessage, content: Any) -> dict[str, Any]:
    role = message["role"]
    if role != "assistant":
        return {"source": "system" if role in ("system", "developer") else "user",
                "message": content}  # fmt: skip
    step: dict[str, Any] = {"source": "agent", "message": content}
    calls = [_call(call) for call in message.get("tool_calls") or ()]
    return {**step, "tool_calls": calls} if calls else step


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call.get("function") or {}
    return {
        "tool_call_id": str(call.get("id") or ""),
        "function_name": str(function.get("name")),
        "arguments": arguments_of(function.get("arguments")),
    }


def arguments_of(value: Any) -> dict[str, Any]:
    """Return a call's arguments as an object; anything else is put under ``text``."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except ValueError:
            return {"text": value}
    return value if isinstance(value, dict) else {"text": json.dumps(value)}


def _observed(step: dict[str, Any], message: ChatMessage, content: Any) -> None:
    """Add a tool's result to the step that made the call."""
    result: dict[str, Any] = {"content": content}
    known = {call["tool_call_id"] for call in step.get("tool_calls", ())}
    if message.get("tool_call_id") in known:
        result["source_call_id"] = message["tool_call_id"]
    step.setdefault("observation", {"results": []})["results"].append(result)


def _content(content: Any, files: Iterator[str]) -> str | list[dict[str, Any]]:
    if not isinstance(content, list):
        return content or ""
    return [_part(part, files) for part in content]


def _part(part: Mapping[str, Any], files: Iterator[str]) -> dict[str, Any]:
    if part.get("type") == "image":
        path = str(next(files, ""))
        kind = _MEDIA.get(path.rpartition(".")[2], "image/png")
        return {"type": "image", "source": {"media_type": kind, "path": path}}
    return {"type": "text", "text": str(part.get("text", ""))}


FORMAT: Final = DatasetFormat(
    columns="a trajectory of Harbor's ATIF each, of which the last step is to be learnt",
    snippet=LOAD_LINES,
    rows=wanted_rows,
    written=lambda row, _: trajectory(row),
)
