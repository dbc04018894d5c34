"""The steps of a trial: the model's prompt, and how a fault relates to it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Literal
from urllib.parse import urlsplit

from warex.analysis.recovery import HEALED_VERDICTS, Recovery
from warex.analysis.recovery.equivalence import is_write
from warex.analysis.recovery.trial_events import ModelAction, ModelCall, TrialEvents
from warex.effects import effects_with
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.events import Entry, FaultDelivered, FaultPlanned, RequestSeen

type StepRole = Literal["clean", "recovery", "lost"]
"""``clean``: not affected by a fault. ``recovery``: the answer with which the agent recovered.
``lost``: the first after a fault from which the agent did not recover."""

_ASKING_HELPS = effects_with(lambda traits: traits.recoverable_by_retry)
_REPORTS = ("dismissed", "accepted", "cleared")
"""Page reports that a dialog or overlay is gone."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call of the agent that led to an action."""

    call: ModelCall
    act: ModelAction
    """The first action, or the one that recovers."""
    url: str
    """URL of the agent's page; empty if unknown."""
    part: StepRole
    planned_fault: FaultPlanned | None
    """The fault; None for a clean step."""
    retry_recovers: bool = False
    """Whether requesting the page again restores it."""

    @property
    def site(self) -> str:
        """The page's host; empty if unknown."""
        try:
            return urlsplit(self.url).hostname or ""
        except ValueError:
            return ""


def steps(
    entries: Sequence[Entry], recoveries: Sequence[Recovery], vocabulary: Vocabulary | None
) -> Iterator[Step]:
    """Yield the training steps of one trial in order.

    Calls without an answer or an action, repeats of a call, and steps under the effect of a fault,
    except those that recover or are lost, are left out.
    """
    story = TrialEvents(entries, vocabulary)
    complete = {call.seq: call for call in story.calls if _is_usable(call)}
    plans = {e.event.injection: e.event for e in entries if isinstance(e.event, FaultPlanned)}
    hit = {e.event.exchange: e.event for e in entries if isinstance(e.event, RequestSeen)}
    felt = {e.event.injection: e.t for e in entries if isinstance(e.event, FaultDelivered)}
    about: dict[int, tuple[StepRole, FaultPlanned]] = {}
    spoilt: list[tuple[float, float]] = []
    for one in recoveries:
        plan, since = plans.get(one.injection), felt.get(one.injection, inf)
        if plan is None or story.call_of(plan.exchange) is not None:
            continue
        call, until = _ending(story, one, since)
        spoilt.append((since, until))
        if call is not None and call.seq not in about:
            about[call.seq] = ("recovery" if one.verdict == "recovered" else "lost", plan)
    last = {call.event.step: call.seq for call in complete.values()}
    for seq, call in complete.items():
        part, plan = about.get(seq, (None, None))
        if part is None and any(
            start <= call.answered and call.began < end for start, end in spoilt
        ):
            continue
        if last[call.event.step] != seq:
            continue
        seen = [page.event.url for page in story.pages(0, call.began)]
        yield Step(
            call=call,
            act=_act(call, recovering=part == "recovery"),
            url=seen[-1] if seen else "",
            part=part or "clean",
            planned_fault=plan,
            retry_recovers=plan is not None and _asking_helps(plan, hit.get(plan.exchange)),
        )


def _is_usable(call: ModelCall) -> bool:
    event = call.event
    return bool(event.complete and event.error is None and event.continues is None and call.actions)


def _ending(story: TrialEvents, one: Recovery, since: float) -> tuple[ModelCall | None, float]:
    """Return the call that recovers or is lost, and when the fault's effect ends."""
    after = [call for call in story.calls if call.began >= since and call.actions]
    if one.verdict == "recovered":
        call = next((it for it in after if it.seq == one.call_seq), None)
        if call is None:
            until = _effect_ended(story, one)
            before = [it for it in after if it.answered <= until]
            call = before[-1] if before and until < inf else None
        return call, call.answered if call is not None else inf
    if one.verdict == "not_recovered":
        return next(iter(after), None), inf
    if one.verdict in HEALED_VERDICTS:
        return None, _asked_at(story, one)
    return None, inf


def _effect_ended(story: TrialEvents, one: Recovery) -> float:
    """Return when a page reported its dialog gone, or the right request was made."""
    reports = story.reports.get(one.injection, ())
    times = [report.t for report in reports if report.what in _REPORTS]
    return min([*times, _asked_at(story, one)])


def _asked_at(story: TrialEvents, one: Recovery) -> float:
    return next((it.t for it in story.requests if it.entry.seq == one.request_seq), inf)


def _act(call: ModelCall, *, recovering: bool) -> ModelAction:
    wanted = ("reload", "goto", "back") if recovering else ()
    return next((act for act in call.actions if act.does in wanted), call.actions[0])


def _asking_helps(plan: FaultPlanned, hit: RequestSeen | None) -> bool:
    helps = plan.category == "failure" and set(plan.effects) <= _ASKING_HELPS
    return helps and hit is not None and not is_write(hit)
