"""Explains replay-cache misses by the nearest request that has a cached answer.

The cache does not hold requests, so requests are compared as recorded in traces: redacted, and with
digests in place of images.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count, takewhile
from pathlib import Path

from pydantic import JsonValue

from warex.analysis.run.conditions import campaign_tables
from warex.files.reading import path_exists
from warex.llm.body.json_diff import Difference, distance, first_difference
from warex.traces import CLEAN, NO_PROXY
from warex.traces.events import LlmCall
from warex.traces.manifest import Manifest
from warex.traces.outcome import Void
from warex.traces.outcome_file import read_outcome
from warex.traces.paths import EVENTS, TrialKey, attempt_dir
from warex.traces.reader import Trace, read_trace


@dataclass(frozen=True, slots=True)
class CacheMiss:
    """A request without a cached answer, with the nearest one that has an answer."""

    seq: int
    """The call's line of the trace."""
    condition: str
    """The condition of the trial that recorded the nearest request."""
    step: int
    """Of that trial's agent."""
    nearest_seq: int
    """The line of that trial's trace."""
    difference: Difference | None
    """None if the traces show none; see ``why``."""

    @property
    def why(self) -> str:
        """The difference in words."""
        difference = self.difference
        if difference is None:
            return (
                "as far as the traces tell, nothing differs: it was asked more often here, or"
                " differs in what is redacted, in another member or in how its JSON is written"
            )
        if difference.recorded is None:
            return f"{difference.path} is {difference.asked} here and is not there"
        here = "is not" if difference.asked is None else str(difference.asked)
        return f"{difference.path} is {difference.recorded} there and {here} here"


def cache_misses(
    run: Path, manifest: Manifest | None, key: TrialKey, trace: Trace
) -> tuple[CacheMiss, ...]:
    """Return the calls of a trial that missed the cache; empty if no answer could be cached.

    They are compared with the trial of the same agent, task and repeat that fills the cache.
    """
    first = _first_to_ask(manifest)
    conditions = campaign_tables(manifest, "conditions")
    controls = [each.get("name") for each in conditions if each.get("control")]
    if first is None or key.condition in (first, NO_PROXY, *controls):
        return ()
    recorded = _recorded(run, replace(key, condition=first))
    return tuple(
        _miss(seq, call, first, recorded)
        for seq, call in _calls(trace)
        if recorded and not call.replayed
    )


def _miss(
    seq: int, call: LlmCall, condition: str, recorded: Sequence[tuple[int, LlmCall]]
) -> CacheMiss:
    asked = _question(call)
    nearest_seq, nearest = min(
        recorded,
        key=lambda entry: (distance(_question(entry[1]), asked), abs(entry[1].step - call.step)),
    )
    difference = first_difference(_question(nearest), asked)
    return CacheMiss(seq, condition, nearest.step, nearest_seq, difference)


def _question(call: LlmCall) -> JsonValue:
    """Return the recorded parts of a request, the most significant first."""
    return {
        "url": call.url,
        "model": call.model_asked,
        "messages": call.messages,
        "tools": call.tools,
        "stream": call.stream,
        "temperature": call.temperature,
        "top_p": call.top_p,
        "seed": call.seed,
        "continues": call.continues,
    }


def _recorded(run: Path, key: TrialKey) -> list[tuple[int, LlmCall]]:
    """Return the calls with cached answers of the attempt that counts."""
    folders = takewhile(Path.is_dir, (attempt_dir(run, key, number) for number in count(1)))
    for folder in reversed(list(folders)):
        outcome = read_outcome(folder)
        if outcome is None or isinstance(outcome, Void) or not path_exists(folder / EVENTS):
            continue
        calls = _calls(read_trace(folder / EVENTS))
        return [(seq, call) for seq, call in calls if call.status == 200 and call.complete]
    return []


def _calls(trace: Trace) -> list[tuple[int, LlmCall]]:
    """Return a trial's calls, except those over a WebSocket, which are never cached."""
    calls = ((e.seq, e.event) for e in trace.entries if isinstance(e.event, LlmCall))
    return [(seq, call) for seq, call in calls if call.exchange == call.carrier]


def _first_to_ask(manifest: Manifest | None) -> str | None:
    """Return the condition whose trials fill the cache; None if there is no cache."""
    if manifest is None or not manifest.campaign.get("llm_cache"):
        return None
    sharing = [
        str(each.get("name"))
        for each in campaign_tables(manifest, "conditions")
        if each.get("name") != NO_PROXY and not each.get("control")
    ]
    return CLEAN if CLEAN in sharing else next(iter(sharing), None)
