"""How long an agent waited for an answer that was late, silent or cut, and what it did meanwhile.

By the traits of the effects, whichever fault they are of: what only comes late needs patience, what
breaks off or stays silent needs a limit of the agent's own and another request.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import isinf
from typing import Final

from warex.analysis.recovery.right_requests import DeliveredInjection
from warex.analysis.recovery.trial_events import KEEPS_ANSWER, ModelCall, TrialEvents
from warex.analysis.recovery.verdicts import Recovery
from warex.effects import effects_with
from warex.llm.actions.name_heuristics import ActionKind

_PACED: Final = effects_with(lambda traits: traits.paces or traits.holds)
"""Effects that say when which part of an answer comes."""
_PARTIAL: Final = effects_with(lambda traits: traits.paces and not traits.keeps_response)
"""Effects that leave the client with the first part of an answer."""
_IDLE: Final[frozenset[ActionKind]] = frozenset(("wait", "look"))
_ON_PAGE: Final[frozenset[ActionKind]] = frozenset(("click", "type", "finish"))
"""What an agent does on the page that it sees, or by it: it also answers."""


def with_patience(trial: TrialEvents, injection: DeliveredInjection, verdict: Recovery) -> Recovery:
    """Add how long the agent waited, and whether it acted on half a page."""
    effects = frozenset(injection.plan.effects)
    late_messages = injection.plan.only_late and injection.delivered.waited_s > 0
    if not late_messages and (not effects & _PACED or not effects <= _PACED):
        return verdict
    until = _asked_again(trial, verdict)
    patience = _patience(trial, injection, until)
    return replace(
        verdict, patience_s=patience, acted_on_half=_acted_on_half(trial, injection, until, verdict)
    )


def _patience(trial: TrialEvents, injection: DeliveredInjection, until: float) -> float | None:
    """Return the seconds until the agent did something else than wait or look; None if unknown."""
    if _came_late(injection):
        return injection.delivered.waited_s
    acts = (call.answered for call in _deciding(trial, injection) if not _is_idle(call))
    first = min(next(acts, until), until, trial.ended)
    return None if isinf(first) else max(0.0, first - injection.felt.felt_at)


def _came_late(injection: DeliveredInjection) -> bool:
    is_whole = injection.plan.only_late or set(injection.plan.effects) <= KEEPS_ANSWER
    return is_whole and not injection.delivered.client_left


def _asked_again(trial: TrialEvents, verdict: Recovery) -> float:
    """Return the second of the right next request; infinite without one."""
    asked = (one.t for one in trial.requests if one.entry.seq == verdict.request_seq)
    return next(asked, float("inf"))


def _deciding(trial: TrialEvents, injection: DeliveredInjection) -> Iterator[ModelCall]:
    return (call for call in trial.calls if call.began >= injection.felt.felt_at)


def _is_idle(call: ModelCall) -> bool:
    return all(act.does in _IDLE for act in call.actions)


def _acted_on_half(
    trial: TrialEvents, injection: DeliveredInjection, until: float, verdict: Recovery
) -> bool | None:
    """Return whether the agent acted on a page before the rest of it came, or it was reloaded.

    None if no page was partial, or no action of the agent is known.
    """
    effects = set(injection.plan.effects)
    is_page = injection.hit.resource == "document" and injection.hit.top_level
    was_silent = bool(effects & _PACED) and injection.delivered.waited_s > 0
    if not is_page or not (effects & _PARTIAL or was_silent) or not trial.reads_actions:
        return None
    end = injection.priced_from if _came_late(injection) else min(until, trial.ended)
    return any(
        act.does in _ON_PAGE
        for call in _deciding(trial, injection)
        if call.answered <= end and call.seq != verdict.call_seq
        for act in call.actions
    )
