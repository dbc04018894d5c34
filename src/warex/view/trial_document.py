"""A trial as the viewer shows it at once: steps, exchanges, faults, reports of pages, its end.

What takes the longest, the verdict on each recovery and the cost, is in ``judgement``.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from pydantic import JsonValue

from warex.analysis.inspection.timeline import describe_event
from warex.analysis.steps.model_steps import ModelStep, steps
from warex.analysis.trial.injections import injections
from warex.errors import TraceError
from warex.report.text.outcomes import describe_outcome
from warex.traces.events import (
    AgentAction,
    Entry,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    LlmCall,
    RequestSeen,
    ResponseSeen,
    TrialBegan,
    Witness,
)
from warex.traces.outcome import Counted
from warex.traces.outcome_file import read_outcome
from warex.traces.paths import AGENT_LOG
from warex.view.click_points import click_points
from warex.view.run_document import Attempt, state_of
from warex.view.trace_index import TraceIndex

_LONGEST_TEXT = 20_000
"""Maximum characters of an answer in the document of a trial."""
_LONGEST_OBSERVATION = 400
"""Maximum characters of the text that stands in the film strip in place of a screenshot."""
_IMAGE = re.compile(r"\[image (sha256/[0-9a-f]{64})\]")
_IN_A_LANE = (
    *(LlmCall, AgentAction, FaultPlanned, FaultDelivered, FaultMissed, Witness),
    *(RequestSeen, ResponseSeen),
)


def trial_document(attempt: Attempt, index: TraceIndex) -> dict[str, Any]:
    """Return a trial as JSON; ``index`` is of its trace.

    Times are in seconds since it began; ``seq`` is a line of the trace.
    """
    entries, problems = index.entries, list(index.problems)
    calls = {e.seq: e.event for e in entries if isinstance(e.event, LlmCall)}
    began = next((e.event for e in entries if isinstance(e.event, TrialBegan)), None)
    try:
        outcome = read_outcome(attempt.path)
        state, words = state_of(outcome), describe_outcome(outcome)
    except TraceError as error:
        outcome, state, words = None, "damaged", "the outcome cannot be read"
        problems.append(str(error))
    return {
        "key": asdict(attempt.key),
        "attempt": attempt.number,
        "path": str(attempt.path),
        "seed": began.seed if began else None,
        "scenario": str(began.scenario.get("name")) if began and began.scenario else None,
        "state": state,
        "outcome": words,
        "answer": outcome.answer if isinstance(outcome, Counted) else None,
        "reasons": list(outcome.reasons) if isinstance(outcome, Counted) else [],
        "problems": [
            *problems,
            *(
                f"WAREX broke: {e.event.reason}"
                for e in entries
                if isinstance(e.event, HarnessBroke)
            ),
        ],
        "has_log": os.path.lexists(attempt.path / AGENT_LOG),
        "end": index.end,
        "steps": [_step(step, calls[step.seq]) for step in steps(entries)],
        "exchanges": index.exchanges.document(index.carriers),
        "faults": list(_faults(index)),
        "witness": [
            {"seq": e.seq, "t": e.t, "injection": w.injection, "what": w.what, "detail": w.detail}
            for e in entries
            if isinstance(w := e.event, Witness)
        ],
        "moments": [
            {"seq": e.seq, "t": e.t, "kind": e.event.event, "text": describe_event(e.event, {})}
            for e in entries
            if not isinstance(e.event, _IN_A_LANE)
        ],
    }


def _step(step: ModelStep, call: LlmCall) -> dict[str, Any]:
    images = _images(step)
    return {
        "seq": step.seq,
        "number": step.number,
        "t": call.began,
        "end": call.began + call.latency_s,
        "model": step.model,
        "page": step.page or step.request,
        "faults": list(step.faults),
        "observation": "" if images else _observation(step),
        "images": images,
        "points": [asdict(point) for point in click_points(call)] if images else [],
        "answer": _cut(step.answer),
        "error": step.error,
        "actions": list(step.actions),
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
    }


def _observation(step: ModelStep) -> str:
    """Return the beginning of what is new in the last message of a prompt."""
    lines = step.prompt[-1].lines if step.prompt else ()
    return "\n".join(line[:_LONGEST_OBSERVATION] for line in lines[:8])[:_LONGEST_OBSERVATION]


def _images(step: ModelStep) -> list[JsonValue]:
    """Return the references of the new images of a prompt."""
    return [
        reference
        for message in step.prompt
        for line in message.lines
        for reference in _IMAGE.findall(line)
    ]


def _faults(index: TraceIndex) -> Iterator[dict[str, Any]]:
    times = {entry.seq: entry.t for entry in index.entries}
    changes = _changes(index.entries)
    faults = list(injections(index.entries))
    lines = index.exchanges.lines_of([fault.exchange for fault in faults])
    for fault in faults:
        yield {
            "id": fault.id,
            "kind": fault.kind,
            "rule": fault.rule,
            "url": fault.url,
            "request_seq": lines.get(fault.exchange),
            "seq": fault.planned_seq,
            "t": fault.planned_t,
            "fate": fault.fate,
            "fate_seq": fault.fate_seq,
            "end": times.get(fault.fate_seq) if fault.fate_seq is not None else None,
            "reason": fault.reason,
            "waited_s": fault.waited_s,
            "changes": changes.get(fault.id, []),
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
