"""Where each number of a trial comes from: its timeline with the lines of the trace."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from warex.analysis.run import prices_of, vocabulary
from warex.analysis.trial import TrialRecord, load_trial, run_of
from warex.errors import TraceError
from warex.files import stands
from warex.traces.events import (
    AgentAction,
    Armed,
    Canary,
    Control,
    DefenceApplied,
    Disarmed,
    Entry,
    Event,
    FaultDelivered,
    FaultMissed,
    FaultPlanned,
    HarnessBroke,
    LlmCall,
    RequestRefused,
    RequestSeen,
    ResponseSeen,
    TaskBegan,
    TaskEnded,
    TlsRejected,
    TrialBegan,
    TrialEnded,
    Tunnel,
    WebSocketSeen,
    Witness,
)
from warex.traces.manifest import read_manifest
from warex.traces.paths import EVENTS, MANIFEST
from warex.traces.reader import Trace, read_trace

_LONGEST_URL = 100


@dataclass(frozen=True, slots=True)
class Moment:
    """One line of the timeline."""

    seq: int
    """The event it rests on; an exchange is told once, at its answer."""
    t: float
    """Seconds since the trial began."""
    kind: str
    """The event's tag; ``exchange`` for a request with its answer."""
    text: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """A trial and its timeline."""

    trial: TrialRecord
    moments: tuple[Moment, ...]
    exchanges: int
    """Requests seen, LLM calls not among them."""
    scenario: str | None
    """Name of the loaded scenario."""
    versions: dict[str, str]


def inspect_trial(path: Path) -> Inspection:
    """Read an attempt's folder and tell what happened, line by line.

    The vocabulary comes from the manifest of the run around the folder, if there is one. Raises
    TraceError for a folder that holds no trial and for a damaged trace.
    """
    if not path.is_dir():
        raise TraceError(f"{path} is not a folder; name one that holds a trial's {EVENTS}.")
    trace = read_trace(path / EVENTS) if stands(path / EVENTS) else Trace(())
    run = run_of(path)
    manifest = read_manifest(run / MANIFEST) if run and stands(run / MANIFEST) else None
    began = next(iter(trace.events(TrialBegan)), None)
    prices = prices_of(manifest)
    bare = load_trial(path, prices=prices, trace=trace)
    words = vocabulary(manifest, bare.key.benchmark)
    trial = load_trial(path, words, prices, trace) if words else bare
    if not trace.entries and trial.outcome is None:
        raise TraceError(f"{path} holds no trial: there is no {EVENTS} and no outcome in it.")
    name = began.scenario.get("name") if began and began.scenario else None
    moments = tuple(_moments(trace))
    return Inspection(
        trial=trial,
        moments=moments,
        exchanges=len(
            {request.exchange for request in trace.events(RequestSeen)}
            - {call.exchange for call in trace.events(LlmCall)}
        ),
        scenario=str(name) if name else None,
        versions=began.versions if began else manifest.versions if manifest else {},
    )


def _moments(trace: Trace) -> Iterator[Moment]:
    asked = {e.event.exchange: e for e in trace.entries if isinstance(e.event, RequestSeen)}
    model_calls = {call.exchange for call in trace.events(LlmCall)}
    answered = {response.exchange for response in trace.events(ResponseSeen)}
    for entry in trace.entries:
        event = entry.event
        if isinstance(event, RequestSeen | ResponseSeen) and event.exchange in model_calls:
            continue
        if isinstance(event, RequestSeen) and event.exchange in answered:
            continue
        # The browser's own chatter: no number rests on it, and there is much of it.
        if isinstance(event, Tunnel) and event.why == "background":
            continue
        exchange = isinstance(event, RequestSeen | ResponseSeen)
        kind = "exchange" if exchange else event.event
        yield Moment(entry.seq, entry.t, kind, _words(event, asked))


def _words(event: Event, asked: dict[str, Entry]) -> str:
    match event:
        case RequestSeen():
            return f"{event.method} {_short(event.url)}: no answer in the trace"
        case ResponseSeen():
            return _exchange(event, asked.get(event.exchange))
        case LlmCall():
            tokens = f"{_known(event.input_tokens)} in, {_known(event.output_tokens)} out"
            failed = f"; {event.error}" if event.error else ""
            return f"step {event.step}: {event.model}, {tokens}, {event.latency_s:.2f} s{failed}"
        case AgentAction():
            return f"step {event.step}: {event.name} ({event.role})"
        case FaultPlanned():
            what = event.fault.get("kind", "fault")
            return (
                f"{event.injection}: {what} by rule {event.rule}, no. {event.ordinal}, {event.url}"
            )
        case FaultDelivered():
            left = "; the client gave up" if event.client_left else ""
            return f"{event.injection}: held {event.waited_s:.2f} s{left}"
        case FaultMissed(injection=None):
            return f"rule {event.rule} left {event.count} alone: {event.reason}"
        case FaultMissed():
            return f"{event.injection}: {event.reason}"
        case TrialBegan():
            return f"seed {event.seed}, armed from {event.arm}"
        case Armed() | Disarmed():
            return f"by {event.by}"
        case Canary():
            return f"{'came through' if event.passed else 'did not come through'}: {event.detail}"
        case HarnessBroke():
            return event.reason
        case Tunnel():
            amount = f"{event.sent} B out, {event.received} B in"
            return f"{event.host}:{event.port}, {amount} ({event.why})"
        case RequestRefused():
            return f"{event.status} to {_short(event.line)}: {event.reason}"
        case TlsRejected():
            return f"{event.host}: {event.reason}"
        case WebSocketSeen(what="opaque"):
            return f"opaque, it passes unread: {event.reason}"
        case WebSocketSeen():
            return f"{event.what}, {event.size} B from {'client' if event.from_client else 'site'}"
        case DefenceApplied():
            return event.defence
        case Witness():
            return f"{event.injection}: {event.what}"
        case TaskBegan() | TaskEnded():
            return event.task
        case Control():
            return event.call
        case TrialEnded():
            counts = f"{event.delivered} delivered, {event.missed} missed"
            return f"{event.exchanges} exchanges, {counts}"
        case _:
            return ""


def _exchange(response: ResponseSeen, request: Entry | None) -> str:
    asked = request.event if request else None
    what = (
        f"{asked.method} {_short(asked.url)}"
        if isinstance(asked, RequestSeen)
        else response.exchange
    )
    answer = response.error or "no answer" if response.status is None else str(response.status)
    by = "" if response.by == "site" else f" by {response.by}"
    again = ""
    if isinstance(asked, RequestSeen) and asked.repeat_of:
        again = f", the browser's silent repeat of {asked.repeat_of}"
    size = f"{response.size} B, {response.timings.total:.2f} s"
    return f"{what}: {answer}{by} ({response.resource}, {size}{again})"


def _known(tokens: int | None) -> str:
    return "—" if tokens is None else str(tokens)


def _short(url: str) -> str:
    return url if len(url) <= _LONGEST_URL else f"{url[: _LONGEST_URL - 1]}…"
