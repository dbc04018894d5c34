"""What an agent did about a site that is different from then on: a lost session, a changed fact."""

from collections.abc import Sequence

from warex.analysis.recovery import equivalence
from warex.analysis.recovery.causes import find_cause, repeats_request
from warex.analysis.recovery.claims import gives_up
from warex.analysis.recovery.connection_tries import same_host
from warex.analysis.recovery.detection import new_trouble
from warex.analysis.recovery.kinds.lies import LieResult, lie_from_words
from warex.analysis.recovery.right_requests import DeliveredInjection
from warex.analysis.recovery.trial_events import ModelCall, SeenRequest, TrialEvents
from warex.analysis.recovery.verdicts import Recovery
from warex.analysis.recovery.words import speaks_of_retrying
from warex.traces.event_parts import ChangedValue

_NO_CALLS = "Network evidence only: the trace has no LLM call."


def judge_session(trial: TrialEvents, injection: DeliveredInjection) -> Recovery:
    """Judge a lost session: the agent recovers if it writes to the site again, and a page comes.

    It signs in, or fills its basket again. To load the page again brings nothing back.
    """
    if not trial.calls:
        return injection.judged("undecided", _NO_CALLS)
    since, hit = injection.felt.felt_at, injection.hit
    writes = [
        one
        for one in trial.requests
        if since <= one.t <= trial.ended
        and one.event.exchange not in injection.met
        and equivalence.is_write(one.event)
        and same_host(one.event, hit)
    ]
    for write in writes:
        cause = find_cause(trial, injection.felt, write)
        if cause is None:
            continue
        shown = next((it for it in _came(trial, write.t) if same_host(it.event, hit)), None)
        if shown is None:
            continue
        why = f"The session was lost; {write.event.method} {write.event.url} began another one."
        recovery = injection.judged(
            "recovered", why, shown, len(writes), cause.call, is_certain=cause.is_certain
        )
        return injection.priced(trial, recovery, shown.t)
    why = "The session was lost, and the agent neither signed in nor began again."
    return injection.judged("not_recovered", why, tries=len(writes))


def judge_change(trial: TrialEvents, injection: DeliveredInjection, first: float) -> Recovery:
    """Judge what has changed for good: the agent recovers if it goes by what is true now.

    It says so, gives the new value, or goes on with something else. ``first`` is the second of the
    trial's first fault.
    """
    felt = injection.felt
    after = [call for call in trial.calls if call.began >= felt.felt_at]
    if not trial.calls:
        return injection.judged("undecided", _NO_CALLS)
    changes = _reversed(injection.delivered.changes)
    result = lie_from_words(trial, felt, changes, first) if changes else None
    if result is not None and result.lie == "passed_on":
        why = "The agent gave the value that the site had shown before the change."
        return injection.judged("not_recovered", why, call=result.call)
    noticing = next((call for call in after if _notices(trial, call, first)), None)
    call = noticing or (None if result is None or _only_repeats(injection, result) else result.call)
    if call is not None:
        why = "The agent noticed the change, or gave the value that is true now."
        recovery = injection.judged("recovered", why, call=call)
        return injection.priced(trial, recovery, call.answered)
    is_gone = (trial.status(injection.hit.exchange) or 0) >= 400
    if is_gone and (elsewhere := _went_elsewhere(trial, injection)) is not None:
        asked, chosen = elsewhere
        why = f"The agent left the missing item: GET {asked.event.url} followed."
        recovery = injection.judged("recovered", why, asked, call=chosen, is_certain=False)
        return injection.priced(trial, recovery, asked.t)
    if result is not None:
        return injection.judged("not_needed", "The agent gave neither value.")
    return injection.judged("not_recovered", "The agent went on as if nothing had changed.")


def _reversed(changes: Sequence[ChangedValue]) -> list[ChangedValue]:
    """Return the changes the other way round: what was before is false now."""
    return [
        ChangedValue(where=it.where, before=it.after, after=it.before)
        for it in changes
        if it.after is not None
    ]


def _only_repeats(injection: DeliveredInjection, result: LieResult) -> bool:
    """Whether a call seems to notice something only since it asks again, which is not use."""
    if result.call is None or result.lie != "noticed":
        return False
    return any(repeats_request(act, injection.felt) for act in result.call.actions)


def _notices(trial: TrialEvents, call: ModelCall, first: float) -> bool:
    """Whether a call speaks of trouble, and not only of trying again, or gives up."""
    words = new_trouble(trial, call, first)
    return gives_up(trial, call) or not all(map(speaks_of_retrying, words))


def _went_elsewhere(
    trial: TrialEvents, injection: DeliveredInjection
) -> tuple[SeenRequest, ModelCall] | None:
    """Return the first other page of the site that the agent opened, and the call for it."""
    hit = injection.hit
    for asked in _came(trial, injection.felt.felt_at):
        if asked.t > trial.ended or asked.event.exchange in injection.met:
            continue
        other = not equivalence.same_page(asked.event.url, hit.url)
        if not (other and same_host(asked.event, hit)):
            continue
        cause = find_cause(trial, injection.felt, asked)
        if cause is not None:
            return asked, cause.call
    return None


def _came(trial: TrialEvents, since: float) -> list[SeenRequest]:
    """Return the requests for pages and data that were answered, from a second of the trial on."""
    return [
        one
        for one in trial.requests
        if one.t >= since
        and (one.is_page or (one.event.resource == "xhr" and not equivalence.is_write(one.event)))
        and 200 <= (trial.status(one.event.exchange) or 0) < 300
    ]
