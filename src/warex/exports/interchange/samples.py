"""Trials as samples of an evaluation: one evaluation for each agent and condition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from warex.analysis.inspection.timeline import inspect_trial
from warex.analysis.trial.record import TrialRecord, read_attempt
from warex.exports.chat import chat
from warex.exports.interchange.selection import SelectedTrial
from warex.exports.rows import ChatMessage
from warex.traces.events import LlmCall
from warex.traces.outcome import Counted, Void
from warex.traces.reader import Trace

type Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The trials of an agent under a condition."""

    benchmark: str
    agent: str
    condition: str
    trials: tuple[SelectedTrial, ...]

    def file(self, out: Path, suffix: str) -> Path:
        """Return its file below ``out``, at the place of its folder in the run."""
        folder = self.trials[0].file(out, "").parents[1]
        return folder.with_name(f"{folder.name}{suffix}")


@dataclass(frozen=True, slots=True)
class Sample:
    """A trial that was read."""

    trial: SelectedTrial
    record: TrialRecord
    trace: Trace
    calls: tuple[LlmCall, ...]

    @property
    def error(self) -> str | None:
        """Why it has no score; None if it has one."""
        match self.record.outcome:
            case Counted():
                return None
            case Void(reason=reason):
                return f"void: {reason}"
            case None:
                return "the trial was not finished"
            case _:
                return "the trial was not scored"

    @property
    def answer(self) -> str | None:
        """The agent's answer, if it gave one."""
        return getattr(self.record.outcome, "answer", None)

    @property
    def models(self) -> tuple[str, ...]:
        """The models that answered, in order."""
        return tuple(dict.fromkeys(call.model for call in self.calls))


def evaluations(trials: Sequence[SelectedTrial]) -> Iterator[Evaluation]:
    """Yield the evaluations of trials, in order."""

    def place(trial: SelectedTrial) -> tuple[str, str, str, str]:
        key = trial.key
        return trial.folder, key.benchmark, key.agent, key.condition

    for (_, *names), each in groupby(sorted(trials, key=place), key=place):
        yield Evaluation(names[0], names[1], names[2], tuple(each))


def read_sample(trial: SelectedTrial) -> Sample:
    """Read a trial. Raises TraceError if it is damaged."""
    trace = read_attempt(trial.path)
    record = inspect_trial(trial.path, trace).trial
    return Sample(trial, record, trace, tuple(trace.events(LlmCall)))


def conversation(calls: Sequence[LlmCall]) -> list[ChatMessage]:
    """Return the messages of all calls in order, each once.

    Agents repeat the earlier messages in each prompt, or leave them out.
    """
    messages: list[ChatMessage] = []
    before: list[ChatMessage] = []
    for call in calls:
        current = chat(call)
        *prompt, answer = current
        messages += [message for message in prompt if message not in before]
        messages.append(answer)
        before = current
    return messages


def metadata(record: TrialRecord) -> Json:
    """Return what WAREX knows of a trial: its faults, what became of them, the recovery."""
    verdicts = {recovery.injection: recovery for recovery in record.recoveries}
    return {
        "condition": record.key.condition,
        "attempt": record.attempt,
        "seed": record.seed,
        "ending": getattr(record.outcome, "ending", None),
        "exposed": record.exposed,
        "recovered": record.recovered,
        "detected": record.detected,
        "false_success": record.false_success,
        "faults": [
            {
                "injection": fault.id,
                "rule": fault.rule,
                "kind": fault.kind,
                "url": fault.url,
                "fate": fault.fate,
                "reason": fault.reason or None,
                "verdict": verdict.verdict if verdict else None,
                "why": verdict.why if verdict else None,
                "seconds": verdict.seconds if verdict else None,
                "steps": verdict.steps if verdict else None,
            }
            for fault in record.injections
            for verdict in [verdicts.get(fault.id)]
        ],
    }
