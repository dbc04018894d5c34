"""The agent's calls to its model as entries of a trainer's trace."""

from collections.abc import Iterable, Mapping
from typing import Any

from warex.llm.tokens import CallTokens
from warex.traces import LlmCall


def trace_entries(
    calls: Iterable[LlmCall], tokens: Mapping[str, CallTokens]
) -> list[dict[str, Any]]:
    """Return calls, in their order, as OpenEnv's ``TraceEntry``; ``tokens`` by their exchange.

    Of several choices the first is the answer.
    """
    return [_entry(call, tokens.get(call.exchange)) for call in calls]


def _entry(call: LlmCall, tokens: CallTokens | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": call.answer}
    if call.tool_calls:
        message["tool_calls"] = list(call.tool_calls)
    return {
        "request": {"model": call.model_asked, "messages": call.messages, "tools": call.tools},
        "response": {
            "model": call.model,
            "choices": [{"index": 0, "message": message, "finish_reason": call.finish_reason}],
        },
        **_sampled(call, tokens),
        "metadata": {
            "node_id": call.exchange,
            "step": call.step,
            "complete": call.complete,
            "error": call.error,
        },
    }


def _sampled(call: LlmCall, tokens: CallTokens | None) -> dict[str, Any]:
    """Return the tokens of the answer, with a mask if they have ids."""
    first = next((it for it in tokens.choices if it.index == 0), None) if tokens else None
    if tokens is None or first is None:
        return {}
    if not (tokens.prompt_token_ids and first.token_ids):
        return {"completion_tokens": first.tokens, "per_token_logps": first.logprobs}
    return {
        "prompt_token_ids": tokens.prompt_token_ids,
        "completion_token_ids": first.token_ids,
        "per_token_logps": first.logprobs,
        "loss_mask": [0] * len(tokens.prompt_token_ids)
        + [int(call.complete)] * len(first.token_ids),
    }
