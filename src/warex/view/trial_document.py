"""A trial as the viewer shows it: steps, exchanges, faults, reports of pages, and its end."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from warex.analysis.inspection.timeline import Inspection, inspect_trial
from warex.analysis.steps.model_steps import ModelStep
from warex.analysis.trial.record import TrialRecord, read_attempt
from warex.errors import TraceError
from warex.files.reading import open_regular_file
from warex.report.text.outcomes import describe_outcome, describe_recovery
from warex.traces.events import (
    Entry,
    FaultDelivered,
    LlmCall,
    RequestSeen,
    ResponseSeen,
    Witness,
)
from warex.traces.paths import EVENTS

RAW_CHUNK = 50
"""Lines of a trace in one raw document."""
_LONGEST_LINE = 1 << 26
_LONGEST_TEXT = 20_000
"""Maximum characters of an answer, or of a prompt's new lines, in the document of a trial."""
_IMAGE = re.compile(r"\[image (sha256/[0-9a-f]{64})\]")


def trial_document(path: Path) -> dict[str, Any]:
    """Return the trial of an attempt's folder as JSON.

    Times are in seconds since it began; ``seq`` is a line of the trace. The raw lines are in
    further documents (``raw_lines``). Raises TraceError for a damaged trace.
    """
    trace = read_attempt(path)
    inspection = inspect_trial(path, trace)
    trial = inspection.trial
    calls = {e.seq: e.event for e in trace.entries if isinstance(e.event, LlmCall)}
    carriers = {call.carrier for call in calls.values()}
    costs = {call.seq: call.cost_usd for call in trial.llm.calls} if trial.llm else {}
    return {
        "key": asdict(trial.key),
        "attempt": trial.attempt,
        "path": str(path),
        "seed": trial.seed,
        "scenario": inspection.scenario,
        "outcome": describe_outcome(trial),
        "recovery": describe_recovery(trial),
        "answer": getattr(trial.outcome, "answer", None),
        "reasons": list(getattr(trial.outcome, "reasons", ())),
        "state": _state(trial),
        "truncated": trial.truncated,
        "harness_broke": list(trial.harness_broke),
        "lines": trace.entries[-1].seq if trace.entries else 0,
        "end": trace.entries[-1].t if trace.entries else 0.0,
        "steps": [_step(step, calls[step.seq], costs.get(step.seq)) for step in inspection.steps],
        "exchanges": list(_exchanges(trace.entries, carriers)),
        "faults": list(_faults(inspection, trace.entries)),
        "witness": [
            {"seq": e.seq, "t": e.t, "injection": w.injection, "what": w.what, "detail": w.detail}
            for e in trace.entries
            if isinstance(w := e.event, Witness)
        ],
        "timeline": [
            [moment.seq, moment.t, moment.kind, moment.text]
            for moment in inspection.timeline
            if moment.kind != "exchange"
        ],
    }


def _state(trial: TrialRecord) -> str | None:
    """Return what the viewer calls the outcome; None if there is no score."""
    if trial.void:
        return "void"
    return None if trial.solved is None else "solved" if trial.solved else "failed"


def raw_lines(path: Path, chunk: int) -> list[str]:
    """Return the lines of an attempt's trace with ``seq`` from ``chunk`` times ``RAW_CHUNK`` + 1.

    Raises TraceError if the trace cannot be read.
    """
    try:
        with open_regular_file(path / EVENTS, follow=False) as file:
            begin = chunk * RAW_CHUNK
            lines = iter(lambda: file.readline(_LONGEST_LINE), b"")
            return [
                line.decode(errors="replace") for line in islice(lines, begin, begin + RAW_CHUNK)
            ]
    except OSError as error:
        raise TraceError(f"{path / EVENTS} cannot be read: {error.strerror}.") from None


def _step(step: ModelStep, call: LlmCall, cost: float | None) -> dict[str, Any]:
    return {
        "seq": step.seq,
        "number": step.number,
        "t": call.began,
        "end": call.began + call.latency_s,
        "model": step.model,
        "page": step.page or step.request,
        "faults": list(step.faults),
        "prompt": [
            {"role": message.role, "text": _cut("\n".join(message.lines))}
            for message in step.prompt
        ],
        "characters": step.characters,
        "images": _images(step),
        "answer": _cut(step.answer),
        "error": step.error,
        "actions": list(step.actions),
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
        "cost_usd": cost,
    }


def _images(step: ModelStep) -> list[JsonValue]:
    """Return the references of the new images of a prompt."""
    return [
        reference
        for message in step.prompt
        for line in message.lines
        for reference in _IMAGE.findall(line)
    ]


def _exchanges(entries: Iterable[Entry], carriers: set[str]) -> Iterator[dict[str, Any]]:
    """Yield the exchanges without those that carry calls to the model, by the time they began."""
    responses: dict[str, tuple[float, ResponseSeen, int]] = {
        e.event.exchange: (e.t, e.event, e.seq)
        for e in entries
        if isinstance(e.event, ResponseSeen)
    }
    for entry in entries:
        request = entry.event
        if not isinstance(request, RequestSeen) or request.exchange in carriers:
            continue
        ended, response, response_seq = responses.get(request.exchange, (None, None, None))
        yield {
            "id": request.exchange,
            "seq": entry.seq,
            "response_seq": response_seq,
            "t": entry.t,
            "end": ended,
            "method": request.method,
            "url": request.url,
            "resource": response.resource if response else request.resource,
            "status": response.status if response else None,
            "by": response.by if response else None,
            "error": response.error if response else None,
            "size": response.size if response else None,
        }


def _faults(inspection: Inspection, entries: Iterable[Entry]) -> Iterator[dict[str, Any]]:
    verdicts = {recovery.injection: recovery for recovery in inspection.trial.recoveries}
    times = {entry.seq: entry.t for entry in entries}
    changes = _changes(entries)
    for fault in inspection.trial.injections:
        recovery = verdicts.get(fault.id)
        yield {
            "id": fault.id,
            "kind": fault.kind,
            "rule": fault.rule,
            "url": fault.url,
            "exchange": fault.exchange,
            "seq": fault.planned_seq,
            "t": fault.planned_t,
            "fate": fault.fate,
            "fate_seq": fault.fate_seq,
            "end": times.get(fault.fate_seq) if fault.fate_seq is not None else None,
            "reason": fault.reason,
            "waited_s": fault.waited_s,
            "changes": changes.get(fault.id, []),
            "verdict": recovery.verdict if recovery else None,
            "why": recovery.why if recovery else "",
            "confidence": recovery.confidence if recovery else None,
            "call_seq": recovery.call_seq if recovery else None,
            "request_seq": recovery.request_seq if recovery else None,
        }


def _changes(entries: Iterable[Entry]) -> Mapping[str, list[JsonValue]]:
    """Return what each injection changed: place, value before, value after."""
    changes: dict[str, list[JsonValue]] = {}
    for entry in entries:
        if isinstance(event := entry.event, FaultDelivered | Witness):
            changes.setdefault(event.injection, []).extend(
                [change.where, change.before, change.after] for change in event.changes
            )
    return changes


def _cut(text: str) -> str:
    more = len(text) - _LONGEST_TEXT
    return text if more <= 0 else f"{text[:_LONGEST_TEXT]}\n… {more:,} more characters"
