"""Logs for Inspect (.eval), of each agent and condition.

Inspect's own library writes them. A trial is a sample: its scores, its messages, its calls to the
model, its actions and its faults as events.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from warex.analysis.trial.usage import LlmUsage
from warex.errors import TraceError
from warex.exports.chat import answer, chat, tools
from warex.exports.dataset_formats.atif import arguments_of
from warex.exports.interchange.samples import (
    Evaluation,
    Sample,
    conversation,
    evaluations,
    metadata,
    read_sample,
)
from warex.exports.interchange.strict_json import sanitize
from warex.exports.rows import ChatMessage
from warex.exports.run_formats import RunExport
from warex.extras import require_extra
from warex.traces.blobs import BlobStore
from warex.traces.events import (
    AgentAction,
    Entry,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    LlmCall,
    Witness,
)
from warex.traces.outcome import Counted
from warex.traces.paths import BLOBS
from warex.version import VERSION

type Json = dict[str, Any]

_STOPS: Final[Mapping[str | None, str]] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "max_tokens",
    "refusal": "content_filter",
    "content_filter": "content_filter",
}
"""Inspect's word for how an answer ended; "unknown" for others."""
_UNKNOWN_TIME: Final = "1970-01-01T00:00:00+00:00"
_IMAGES: Final = ((b"\x89PNG", "png"), (b"\xff\xd8", "jpeg"), (b"GIF8", "gif"), (b"RIFF", "webp"))


def write(export: RunExport) -> Iterable[str]:
    """Write the logs."""
    require_extra("inspect", "--to inspect", "inspect_ai")
    from inspect_ai.log import EvalLog, write_eval_log

    selection = export.select()
    export.require_new_folder()
    for evaluation in evaluations(selection.trials):
        log = eval_log(evaluation, [read_sample(trial) for trial in evaluation.trials])
        path = evaluation.file(export.out, ".eval")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_eval_log(EvalLog.model_validate(log), str(path))
    return export.result(selection)


def eval_log(evaluation: Evaluation, samples: Sequence[Sample]) -> Json:
    """Return the log of an evaluation in the form of Inspect's ``EvalLog``."""
    identity = uuid5(NAMESPACE_URL, "|".join(str(trial.path) for trial in evaluation.trials)).hex
    moments = [entry.at for each in samples for entry in each.trace.entries] or [_UNKNOWN_TIME]
    tasks = list(dict.fromkeys(sample.trial.key.task for sample in samples))
    model = next((name for sample in samples for name in sample.models), "none")
    scored = [sample for sample in samples if sample.error is None]
    log: Json = {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": identity,
            "run_id": identity,
            "created": min(moments),
            "task": evaluation.benchmark or "warex",
            "task_id": identity,
            "task_display_name": f"{evaluation.benchmark or 'warex'}, {evaluation.condition}",
            "task_args": {"condition": evaluation.condition},
            "solver": evaluation.agent,
            "tags": [evaluation.condition],
            "dataset": {
                "name": evaluation.benchmark,
                "samples": len(tasks),
                "sample_ids": tasks,
                "shuffled": False,
            },
            "model": model,
            "config": {"epochs": max(sample.trial.key.repeat for sample in samples)},
            "packages": {"warex": VERSION},
            "metadata": {"agent": evaluation.agent, "condition": evaluation.condition},
            # What a site or a model wrote is shown as plain text.
            "viewer": {"trust_content": False},
        },
        "plan": {"name": evaluation.agent, "steps": []},
        "results": {
            "total_samples": len(samples),
            "completed_samples": len(scored),
            "scores": list(_results(samples)),
        },
        "stats": {
            "started_at": min(moments),
            "completed_at": max(moments),
            "model_usage": _usage_by_model(samples),
        },
        "samples": [_sample(sample) for sample in samples],
    }
    cleaned: Json = sanitize(log)
    return cleaned


def _results(samples: Sequence[Sample]) -> Iterator[Json]:
    of_samples = [_scores(sample) or {} for sample in samples]
    for name in ("score", "recovered"):
        values = [float(scores[name]["value"]) for scores in of_samples if name in scores]
        if values:
            yield {
                "name": name,
                "scorer": name,
                "scored_samples": len(values),
                "unscored_samples": len(samples) - len(values),
                "metrics": {"mean": {"name": "mean", "value": sum(values) / len(values)}},
            }


def _scores(sample: Sample) -> Json | None:
    outcome, record = sample.record.outcome, sample.record
    if not isinstance(outcome, Counted):
        return None
    score = {
        "value": outcome.score,
        "answer": outcome.answer,
        "explanation": "\n".join(outcome.reasons) or None,
    }
    if record.recovered is None:
        return {"score": score}
    why = "\n".join(f"{each.injection}: {each.why}" for each in record.recoveries)
    return {"score": score, "recovered": {"value": record.recovered, "explanation": why}}


def _sample(sample: Sample) -> Json:
    store = BlobStore(sample.trial.path / BLOBS)
    entries, error, key = sample.trace.entries, sample.error, sample.trial.key
    messages = [_message(each, store) for each in conversation(sample.calls)]
    asked = next((each["content"] for each in messages if each["role"] == "user"), key.task)
    return {
        "id": key.task,
        "epoch": key.repeat,
        "input": asked if isinstance(asked, str) else [{"role": "user", "content": asked}],
        "target": "",
        "messages": messages,
        "output": _output(sample.calls[-1], store) if sample.calls else {},
        "scores": _scores(sample),
        "metadata": metadata(sample.record),
        "model_usage": _usage_by_model([sample]),
        "events": [event for entry in entries for event in _events(entry, store)],
        "started_at": entries[0].at if entries else None,
        "completed_at": entries[-1].at if entries else None,
        "total_time": sample.record.latency_s,
        "uuid": uuid5(NAMESPACE_URL, str(sample.trial.path)).hex,
        "error": None
        if error is None
        else {"message": error, "traceback": error, "traceback_ansi": error},
    }


def _events(entry: Entry, store: BlobStore) -> Iterator[Json]:
    base: Json = {"timestamp": entry.at, "working_start": entry.t}
    match entry.event:
        case LlmCall() as call:
            yield base | {
                "event": "model",
                "model": call.model,
                "input": [_message(each, store) for each in chat(call)[:-1]],
                "tools": [_tool(each["function"]) for each in tools(call.tools) or ()],
                "tool_choice": "auto",
                "config": {"temperature": call.temperature, "top_p": call.top_p},
                "output": _output(call, store),
                "error": call.error,
                "working_time": call.latency_s,
                "metadata": {"step": call.step, "replayed": call.replayed},
            }
        case AgentAction(name=name, arguments=arguments) as action:
            yield base | {
                "event": "tool",
                "id": f"{action.exchange}-{entry.seq}",
                "function": name,
                "arguments": arguments if isinstance(arguments, dict) else {"arguments": arguments},
                "result": "",
            }
        case FaultPlanned() as plan:
            yield _info(entry, {"rule": plan.rule, "fault": plan.fault, "url": plan.url})
        case FaultDelivered(changes=changes) | Witness(changes=changes):
            listed = [[each.where, each.before, each.after] for each in changes]
            yield _info(entry, {"changes": listed} if listed else {})
        case FaultMissed():
            yield _info(entry)
        case _:
            pass


def _info(entry: Entry, more: Json | None = None) -> Json:
    names = ("injection", "reason", "what", "detail")
    data = {name: value for name in names if (value := getattr(entry.event, name, None))}
    return {
        "event": "info",
        "timestamp": entry.at,
        "working_start": entry.t,
        "source": f"warex {entry.event.event}",
        "data": data | (more or {}),
    }


def _output(call: LlmCall, store: BlobStore) -> Json:
    reply = _message(answer(call), store) | {"model": call.model, "source": "generate"}
    return {
        "model": call.model,
        "choices": [{"message": reply, "stop_reason": _STOPS.get(call.finish, "unknown")}],
        "completion": call.answer,
        "usage": {
            "input_tokens": call.input_tokens or 0,
            "output_tokens": call.output_tokens or 0,
            "total_tokens": (call.input_tokens or 0) + (call.output_tokens or 0),
            "input_tokens_cache_read": call.cached_tokens,
            "input_tokens_cache_write": call.cache_write_tokens,
            "reasoning_tokens": call.reasoning_tokens,
        },
        "time": call.latency_s,
        "error": call.error,
    }


def _usage_by_model(samples: Iterable[Sample]) -> Json:
    usage: dict[str, Json] = {}
    for sample in samples:
        for call in (sample.record.llm or LlmUsage(())).calls:
            total = usage.setdefault(call.model, {"input_tokens": 0, "output_tokens": 0})
            total["input_tokens"] += call.input_tokens or 0
            total["output_tokens"] += call.output_tokens or 0
            if call.cost_usd is not None:
                total["total_cost"] = total.get("total_cost", 0.0) + call.cost_usd
    for total in usage.values():
        total["total_tokens"] = total["input_tokens"] + total["output_tokens"]
    return usage


def _message(message: ChatMessage, store: BlobStore) -> Json:
    role, content = message["role"], message.get("content") or ""
    written: Json = {
        "role": role if role in ("system", "user", "assistant", "tool") else "user",
        "content": [_part(part, store) for part in content]
        if isinstance(content, list)
        else content,
    }
    if calls := message.get("tool_calls"):
        written["tool_calls"] = [
            {
                "id": str(call.get("id") or ""),
                "function": str(call["function"].get("name")),
                "arguments": arguments_of(call["function"].get("arguments")),
                "type": "function",
            }
            for call in calls
        ]
    if role == "tool":
        written["tool_call_id"] = str(message.get("tool_call_id") or "")
        written["function"] = message.get("name")
    return written


def _part(part: Mapping[str, Any], store: BlobStore) -> Json:
    if part.get("type") != "image":
        return {"type": "text", "text": str(part.get("text", ""))}
    reference = str(part.get("blob", ""))
    try:
        data = store.get(reference)
    except TraceError:
        return {"type": "text", "text": f"[image {reference}]"}
    kind = next((kind for magic, kind in _IMAGES if data.startswith(magic)), None)
    if kind is None:
        return {"type": "text", "text": f"[image {reference}]"}
    encoded = base64.b64encode(data).decode()
    return {"type": "image", "image": f"data:image/{kind};base64,{encoded}"}


def _tool(function: Mapping[str, Any]) -> Json:
    parameters = function.get("parameters") or {}
    properties = parameters.get("properties")
    return {
        "name": function["name"],
        "description": function.get("description") or "",
        "parameters": {
            "type": "object",
            "properties": {
                name: {"type": schema.get("type"), "description": schema.get("description")}
                for name, schema in (properties if isinstance(properties, dict) else {}).items()
                if isinstance(schema, dict) and isinstance(schema.get("type"), str)
            },
        },
    }
