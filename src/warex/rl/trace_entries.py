"""The agent's calls to its model as entries of a trainer's trace."""

from collections.abc import Iterable
from typing import Any

from warex.traces import LlmCall


def trace_entries(calls: Iterable[LlmCall]) -> list[dict[str, Any]]:
    """Return calls, in their order, as OpenEnv's ``TraceEntry``."""
    return [_entry(call) for call in calls]


def _entry(call: LlmCall) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": call.answer}
    if call.tool_calls:
        message["tool_calls"] = list(call.tool_calls)
    return {
        "request": {"model": call.model_asked, "messages": call.messages, "tools": call.tools},
        "response": {
            "model": call.model,
            "choices": [{"index": 0, "message": message, "finish_reason": call.finish_reason}],
        },
        "metadata": {
            "node_id": call.exchange,
            "step": call.step,
            "complete": call.complete,
            "error": call.error,
        },
    }
