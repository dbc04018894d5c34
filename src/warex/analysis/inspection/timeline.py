"""The timeline of a trial, with the lines of its trace."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from warex.analysis.inspection.cache_misses import CacheMiss, cache_misses
from warex.analysis.inspection.tasks import TaskUse, task_uses
from warex.analysis.run.folder_hints import folder_hint
from warex.analysis.run.load import benchmark_vocabulary, prices_of, scripted_agents
from warex.analysis.steps.model_steps import ModelStep, describe_answer, steps
from warex.analysis.trial.record import (
    TrialRecord,
    load_trial,
    read_attempt,
    run_of,
    trial_key_of,
)
from warex.analysis.trial.twins import twins_of
from warex.errors import TraceError
from warex.files.reading import path_exists
from warex.llm.base import ABNORMAL_FINISH
from warex.llm.embedded import is_mock_model
from warex.llm.prices.table import built_in_prices
from warex.text.english import count_noun
from warex.traces import events
from warex.traces.manifest import read_manifest
from warex.traces.paths import EVENTS, MANIFEST
from warex.traces.reader import Trace

_LONGEST_URL = 100
_LONGEST_CHANGE = 200
_WITNESSED = {"forged": "a report that was not the page's was ignored"}
"""By the word of a report: what is shown instead."""
_CHANGES = 3
"""Maximum number of changes shown for a delivered fault."""


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One line of the timeline."""

    seq: int
    """The event's line of the trace; an exchange is shown once, at its answer."""
    t: float
    """Seconds since the trial began."""
    kind: str
    """The event's tag; ``exchange`` for a request with its answer."""
    text: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """A trial and its timeline."""

    trial: TrialRecord
    timeline: tuple[TimelineEntry, ...]
    exchanges: int
    """Requests seen, without LLM calls."""
    scenario: str | None
    """Name of the loaded scenario."""
    versions: dict[str, str]
    steps: tuple[ModelStep, ...] = ()
    tasks: tuple[TaskUse, ...] = ()
    """The runs of tasks, and what is unattributed."""
    scripted: bool = False
    """Whether the agent's model is scripted by WAREX."""
    redacted: int | None = None
    """Places of the trace where a secret is replaced; None if unknown."""
    cache_misses: tuple[CacheMiss, ...] = ()
    """Calls that missed the replay cache, if there is one."""

    @property
    def answers(self) -> int:
        """The complete answers of the model."""
        return sum(step.is_answered for step in self.steps)

    @property
    def read_answers(self) -> int:
        """Those in which an action could be read."""
        return sum(step.is_answered and bool(step.actions) for step in self.steps)


def inspect_trial(path: Path, trace: Trace | None = None) -> Inspection:
    """Read an attempt's folder, with the vocabulary of the run that it is in, if any.

    ``trace`` is read from the folder unless given. Raises TraceError for a folder without a trial
    and for a damaged trace.
    """
    if not path.is_dir():
        raise TraceError(f"{path} is not a folder; name one that holds a trial's {EVENTS}.")
    trace = read_attempt(path) if trace is None else trace
    run = run_of(path)
    manifest = read_manifest(run / MANIFEST) if run and path_exists(run / MANIFEST) else None
    began = next(iter(trace.events(events.TrialBegan)), None)
    prices = prices_of(run, manifest)
    key = trial_key_of(path, trace)
    words = benchmark_vocabulary(manifest, key.benchmark)
    trial = load_trial(path, words, prices, trace)
    if not trace.entries and trial.outcome is None:
        raise TraceError(
            f"{path} holds no trial: there is no {EVENTS} and no outcome in it. {folder_hint(path)}"
        )
    scripted = trial.key.agent in scripted_agents(manifest) or any(
        is_mock_model(call.model) for call in (trial.llm.calls if trial.llm else ())
    )
    name = began.scenario.get("name") if began and began.scenario else None
    return Inspection(
        trial=trial.scripted() if scripted else trial,
        timeline=tuple(_moments(trace)),
        exchanges=len(
            {request.exchange for request in trace.events(events.RequestSeen)}
            - {call.carrier for call in trace.events(events.LlmCall)}
        ),
        scenario=str(name) if name else None,
        versions=began.versions if began else manifest.versions if manifest else {},
        steps=steps(trace.entries),
        tasks=task_uses(
            trace.entries,
            prices or built_in_prices(),
            words,
            twins_of(run, key) if run else {},
        ),
        scripted=scripted,
        redacted=next((end.redacted for end in trace.events(events.TrialEnded)), None),
        cache_misses=cache_misses(run, manifest, trial.key, trace) if run else (),
    )


def _moments(trace: Trace) -> Iterator[TimelineEntry]:
    requests = {request.exchange: request for request in trace.events(events.RequestSeen)}
    model_calls = {call.carrier for call in trace.events(events.LlmCall)}
    answered = {response.exchange for response in trace.events(events.ResponseSeen)}
    for entry in trace.entries:
        event = entry.event
        kind: str = event.event
        if isinstance(event, events.RequestSeen | events.ResponseSeen):
            kind = "exchange"
            if event.exchange in model_calls:
                continue
        if isinstance(event, events.RequestSeen) and event.exchange in answered:
            continue
        # The browser's background traffic: it is frequent and affects no figure.
        if isinstance(event, events.Tunnel) and event.why == "background":
            continue
        yield TimelineEntry(entry.seq, entry.t, kind, describe_event(event, requests))


def describe_event(event: events.Event, requests: Mapping[str, events.RequestSeen]) -> str:  # noqa: C901 - one case an event
    """Return an event in words, without its kind; ``requests`` are the trial's, by their id."""
    match event:
        case events.RequestSeen():
            return f"{event.method} {_short(event.url)}: no answer in the trace"
        case events.ResponseSeen():
            return _exchange(event, requests.get(event.exchange))
        case events.LlmCall():
            tokens = f"{_known(event.input_tokens)} in, {_known(event.output_tokens)} out"
            reason = event.error or ABNORMAL_FINISH.get(event.finish or "")
            failed = f"; {reason}" if reason else ""
            return f"step {event.step}: {event.model}, {tokens}, {event.latency_s:.2f} s{failed}"
        case events.McpCall():
            return _tool_call(event)
        case events.LlmRetried():
            return (
                f"asked again what {event.injection} refused:"
                f" told to wait {event.retry_after_s:g} s, waited {event.waited_s:.2f} s"
            )
        case events.AgentAction():
            return f"step {event.step}: {event.name} ({event.role})"
        case events.FaultPlanned():
            what = event.fault.get("kind", "fault")
            again = f" (the same occurrence as {event.repeat_of})" if event.repeat_of else ""
            return (
                f"{event.injection}: {what} by rule {event.rule}, no. {event.ordinal},"
                f" {event.url}{again}"
            )
        case events.FaultDelivered():
            left = "; the client gave up" if event.client_left else ""
            sentence = f"{event.injection}: held {event.waited_s:.2f} s{left}"
            return "; ".join((sentence, *_changes(event)))
        case events.FaultMissed(injection=None):
            return f"rule {event.rule} skipped {event.count}: {event.reason}"
        case events.FaultMissed():
            return f"{event.injection}: {event.reason}"
        case events.TrialBegan():
            return f"seed {event.seed}, armed from {event.arm}"
        case events.Armed() | events.Disarmed():
            return f"by {event.by}"
        case events.Dns():
            return f"{event.kind} {event.name}: {event.answer}"
        case events.Canary():
            return f"{'came through' if event.passed else 'did not come through'}: {event.detail}"
        case events.HarnessBroke():
            return event.reason
        case events.Tunnel():
            amount = f"{event.sent} B out, {event.received} B in"
            return f"{event.host}:{event.port}, {amount} ({event.why})"
        case events.LlmUnread():
            return f"{_short(event.url)}: {event.reason}"
        case events.RequestRefused():
            return f"{event.status} to {_short(event.line)}: {event.reason}"
        case events.SiteUnreachable():
            return f"{event.host}:{event.port}, {event.failure}: {event.error}"
        case events.Repeated():
            return f"{event.times:,} more of {event.kind}: {event.why}"
        case events.TlsRejected():
            return f"{event.host}: {event.reason}"
        case events.WebSocketSeen(what="opaque"):
            return f"opaque, it passes unread: {event.reason}"
        case events.WebSocketSeen():
            return f"{event.what}, {event.size} B from {'client' if event.from_client else 'site'}"
        case events.DefenceApplied():
            return event.defence
        case events.Witness():
            detail = f" ({event.detail})" if event.detail else ""
            by = ", by script: the page's or the agent's" if event.by == "script" else ""
            what = f"{event.injection}: {_WITNESSED.get(event.what, event.what)}{detail}{by}"
            return "; ".join((what, *_changes(event)))
        case events.TaskBegan():
            return f"{event.task} (told by {event.told_by.replace('_', ' ')})"
        case events.TaskEnded():
            return event.task
        case events.Control():
            return event.call
        case events.TrialEnded():
            counts = f"{event.delivered} delivered, {event.missed} missed"
            return f"{count_noun(event.exchanges, 'exchange')}, {counts}"
        case _:
            return ""


def _changes(event: events.FaultDelivered | events.Witness) -> Iterator[str]:
    """Yield the first changed values, and the number of the others."""
    for change in event.changes[:_CHANGES]:
        before = f"{change.before} → " if change.before else ""
        after = "taken out" if change.after is None else change.after
        source = " (reported by the page)" if change.reported_by == "page" else ""
        yield f"{change.where}: {before}{after}"[:_LONGEST_CHANGE] + source
    more = len(event.changes[_CHANGES:]) + event.left_out
    if more:
        yield f"{more} more"


def _exchange(response: events.ResponseSeen, request: events.RequestSeen | None) -> str:
    what, again = response.exchange, ""
    if request is not None:
        what = f"{request.method} {_short(request.url)}"
        again = f", the browser's silent repeat of {request.repeat_of}" if request.repeat_of else ""
    size = f"{response.size} B, {response.timings.total:.2f} s"
    return f"{what}: {describe_answer(response)} ({response.resource}, {size}{again})"


def _tool_call(call: events.McpCall) -> str:
    what = f"{call.method} {call.tool}" if call.tool else call.method
    arguments = (
        json.dumps(call.arguments, ensure_ascii=False) if call.tool and call.arguments else ""
    )
    failed = f"; {_short(call.error)}" if call.error else ""
    return f"{' '.join(filter(None, (what, _short(arguments))))}, {call.latency_s:.2f} s{failed}"


def _known(tokens: int | None) -> str:
    return "—" if tokens is None else str(tokens)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_URL else f"{text[: _LONGEST_URL - 1]}…"
