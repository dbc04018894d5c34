"""Logs of trials in the layout of the paper's Appendix F.

The "..." of the paper is one line of JSON: the messages to the model, and its answer. Times are
Unix timestamps in seconds, followed by the date and time (UTC) in parentheses.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pydantic import JsonValue

from warex.analysis.run.attempts import last_attempts
from warex.analysis.run.folder_hints import folder_hint
from warex.analysis.trial.record import read_attempt, trial_key_of
from warex.errors import TraceError
from warex.exports.run_formats import RunExport
from warex.report.text.formatting import UNKNOWN
from warex.traces.events import LlmCall, RequestSeen, ResponseSeen
from warex.traces.files import write_atomic
from warex.traces.paths import TrialKey
from warex.traces.reader import Trace


def write(export: RunExport) -> Iterable[str]:
    """Write the log of each trial."""
    selection = export.select()
    export.require_new_folder()
    for trial in selection.trials:
        lines = [*_lines(read_attempt(trial.path), trial.key, with_key=True)]
        if trial.void is not None:
            lines.insert(0, f"Void: {_json(trial.void)}")
        text = "\n".join(lines) + "\n"
        write_atomic(trial.file(export.out, ".log"), text.encode("utf-8", "replace"))
    return export.result(selection)


def paper_logs(folder: Path) -> Iterator[str]:
    """Yield the log of each trial in a folder: an attempt, a trial, a condition, a run.

    The last attempt with an outcome is used. Raises TraceError for a folder that
    holds no trial, and for a damaged trace.
    """
    attempts = list(last_attempts(folder))
    if not attempts:
        raise TraceError(f"{folder} holds no trial. {folder_hint(folder)}")
    keys = [trial_key_of(attempt) for attempt in attempts]
    several = len({(key.agent, key.condition, key.repeat) for key in keys}) > 1
    for attempt, key in zip(attempts, keys, strict=True):
        yield "\n".join(_lines(read_attempt(attempt), key, with_key=several)) + "\n"


def _lines(trace: Trace, key: TrialKey, *, with_key: bool) -> Iterator[str]:
    yield f"Task_Name_Number: {key.task}"
    if with_key:
        # The paper has one log per trial; with several, each needs its key.
        yield f"Trial: {key.agent} / {key.condition} / repeat {key.repeat}"
    for call in trace.events(LlmCall):
        yield f"LLM Request Content: {_json(call.messages)}"
        yield f"LLM Response Content: {_json(_answer(call))}"
    moments = [datetime.fromisoformat(entry.at) for entry in trace.of(RequestSeen, ResponseSeen)]
    yield f"Client connected at: {_moment(moments[:1])}"
    yield f"Response received at: {_moment(moments[-1:])}"
    seconds = (moments[-1] - moments[0]).total_seconds() if moments else None
    yield f"Latency: {UNKNOWN if seconds is None else f'{1000 * seconds:.0f} ms'}"


def _answer(call: LlmCall) -> JsonValue:
    if call.error is not None and not call.answer and not call.tool_calls:
        return {"error": call.error}
    if call.tool_calls:
        return {"content": call.answer, "tool_calls": call.tool_calls}
    return call.answer


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def _moment(at: Sequence[datetime]) -> str:
    if not at:
        return UNKNOWN
    return f"{at[0].timestamp():.3f} ({at[0]:%Y-%m-%d %H:%M:%S})"
