"""OpenTelemetry traces by the GenAI conventions.

They are OTLP in JSON.

A trial is a trace: ``invoke_agent`` is its root; below are a ``chat`` for each call to the model
and an ``execute_tool`` for each action that was reported. Delivered faults are events of the root.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from warex.analysis.trial.record import read_attempt
from warex.exports.interchange.otlp_http import send_traces
from warex.exports.interchange.selection import SelectedTrial
from warex.exports.interchange.strict_json import encode_strictly
from warex.exports.run_formats import RunExport
from warex.traces.events import AgentAction, Entry, FaultDelivered, FaultPlanned, LlmCall
from warex.traces.files import write_atomic
from warex.traces.paths import TrialKey
from warex.version import VERSION

type Json = dict[str, Any]

FILE: Final = "traces.jsonl"
_SCHEMA: Final = "https://opentelemetry.io/schemas/1.45.0"
_INTERNAL, _CLIENT = 1, 3
_ERROR: Final = 2
_LATEST: Final = 1e10
"""Seconds that a time of 64 bits has room for, in nanoseconds."""
_PROVIDERS: Final = {
    "openai_chat": "openai",
    "openai_responses": "openai",
    "anthropic_messages": "anthropic",
    "gemini": "gcp.gen_ai",
    "bedrock_converse": "aws.bedrock",
    "bedrock_invoke": "aws.bedrock",
}
"""The well-known values of the conventions, by the API that was spoken."""


def write(export: RunExport) -> Iterable[str]:
    """Write the traces."""
    selection = export.select()
    if export.address is None:
        export.require_new_folder()
        write_otel(selection.trials, export.out)
    else:
        send_traces(export.address, map(_traces, selection.trials))
    return export.result(selection, export.address)


def write_otel(trials: Sequence[SelectedTrial], out: Path) -> None:
    """Write ``traces.jsonl``: a line of OTLP for each trial."""
    write_atomic(out / FILE, (_line(trial) for trial in trials))


def _line(trial: SelectedTrial) -> bytes:
    return encode_strictly(_traces(trial)) + b"\n"


def _traces(trial: SelectedTrial) -> Json:
    entries = read_attempt(trial.path, lean=True).entries
    return otlp(entries, trial.key, str(trial.path), trial.void)


def otlp(entries: Sequence[Entry], key: TrialKey, identity: str, void: str | None = None) -> Json:
    """Return a trial as OTLP's TracesData.

    ``identity`` tells it from others of its key; ``void`` says why it is void.
    """
    spans = list(_spans(entries, key, _hex(32, identity), void))
    resource = {"service.name": "warex", "service.version": VERSION}
    scope = {"name": "warex", "version": VERSION}
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(resource)},
                "scopeSpans": [{"scope": scope, "spans": spans, "schemaUrl": _SCHEMA}],
                "schemaUrl": _SCHEMA,
            }
        ]
    }


def _spans(entries: Sequence[Entry], key: TrialKey, trace: str, void: str | None) -> Iterator[Json]:
    if not entries:
        return
    origin = _origin(entries[0])
    root = _hex(16, trace, "root")

    def span(
        entry: Entry,
        name: str,
        kind: int,
        times: tuple[float, float],
        attributes: Mapping[str, Any],
    ) -> Json:
        return {
            "traceId": trace,
            "spanId": _hex(16, trace, str(entry.seq)),
            "parentSpanId": root,
            "name": name,
            "kind": kind,
            "startTimeUnixNano": _nanoseconds(origin + times[0]),
            "endTimeUnixNano": _nanoseconds(origin + max(times)),
            "attributes": _attributes(attributes),
        }

    events: list[Json] = []
    planned: dict[str, FaultPlanned] = {}
    children: list[Json] = []
    for entry in entries:
        match entry.event:
            case LlmCall() as call:
                times = call.began, call.began + call.latency_s
                name = f"chat {call.model_asked or call.model}"
                child = span(entry, name, _CLIENT, times, _of_call(call))
                if call.error is not None:
                    child["status"] = {"code": _ERROR, "message": call.error}
                children.append(child)
            case AgentAction() as action:
                attributes = {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": action.name,
                    "warex.step": action.step,
                }
                name = f"execute_tool {action.name}"
                children.append(span(entry, name, _INTERNAL, (entry.t, entry.t), attributes))
            case FaultPlanned() as plan:
                planned[plan.injection] = plan
            case FaultDelivered(injection=injection) if injection in planned:
                plan = planned[injection]
                attributes = {
                    "warex.fault.kind": str(plan.fault.get("kind", "")),
                    "warex.fault.rule": plan.rule,
                    "warex.fault.injection": injection,
                    "url.full": plan.url,
                }
                events.append(
                    {
                        "timeUnixNano": _nanoseconds(origin + entry.t),
                        "name": "warex.fault.delivered",
                        "attributes": _attributes(attributes),
                    }
                )
            case _:
                pass
    of_trial = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": key.agent,
        "warex.benchmark": key.benchmark,
        "warex.condition": key.condition,
        "warex.task": key.task,
        "warex.repeat": key.repeat,
        "warex.void": void,
    }
    times = entries[0].t, max(entry.t for entry in entries)
    root_span = span(entries[0], f"invoke_agent {key.agent}", _INTERNAL, times, of_trial)
    del root_span["parentSpanId"]
    yield root_span | {"spanId": root, "events": events}
    yield from children


def _of_call(call: LlmCall) -> Mapping[str, Any]:
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(call.family, call.family),
        "gen_ai.request.model": call.model_asked or call.model,
        "gen_ai.response.model": call.model,
        "gen_ai.request.temperature": call.temperature,
        "gen_ai.request.top_p": call.top_p,
        "gen_ai.usage.input_tokens": call.input_tokens,
        "gen_ai.usage.output_tokens": call.output_tokens,
        "gen_ai.response.finish_reasons": [call.finish_reason] if call.finish_reason else None,
        "error.type": "_OTHER" if call.error is not None else None,
        "warex.step": call.step,
        "warex.replayed": call.replayed,
    }


def _attributes(values: Mapping[str, Any]) -> list[Json]:
    return [
        {"key": key, "value": _value(value)} for key, value in values.items() if value is not None
    ]


def _value(value: object) -> Json:
    match value:
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list():
            return {"arrayValue": {"values": [_value(each) for each in value]}}
        case _:
            return {"stringValue": str(value).encode("utf-8", "replace").decode()}


def _hex(digits: int, *parts: str) -> str:
    data = json.dumps(parts).encode()
    return hashlib.sha256(data).hexdigest()[:digits]


def _origin(entry: Entry) -> float:
    """Return the wall time of second 0; 0 if the stamp of a damaged trace is not time."""
    try:
        return datetime.fromisoformat(entry.at).timestamp() - entry.t
    except (ValueError, OverflowError):
        return 0.0


def _nanoseconds(seconds: float) -> str:
    return str(round(min(max(0.0, seconds), _LATEST) * 1e9))
