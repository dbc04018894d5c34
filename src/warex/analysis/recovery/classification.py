"""The verdict on each delivered injection of a trial."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from urllib.parse import urlsplit

from warex.analysis.recovery import connection_tries, equivalence
from warex.analysis.recovery.causes import (
    Cause,
    FaultImpact,
    cause_of,
    find_cause,
    is_page_load_request,
)
from warex.analysis.recovery.clients import by_program
from warex.analysis.recovery.connection_tries import same_host
from warex.analysis.recovery.detection import detection
from warex.analysis.recovery.kinds.changes import judge_change, judge_session
from warex.analysis.recovery.kinds.lies import VERDICTS, lie_from_verdict, lie_from_words
from warex.analysis.recovery.kinds.model_faults import classify_model_fault, is_model_fault
from warex.analysis.recovery.kinds.partial_answers import with_patience
from warex.analysis.recovery.kinds.popups import judge_popup
from warex.analysis.recovery.kinds.walls import judge_wall
from warex.analysis.recovery.right_requests import DeliveredInjection, right_requests, wanted
from warex.analysis.recovery.task_path import comes_back, task_path_reason
from warex.analysis.recovery.trial_events import KEEPS_ANSWER, ModelCall, SeenRequest, TrialEvents
from warex.analysis.recovery.twin import Twin
from warex.analysis.recovery.verdicts import RATED_VERDICTS, Recovery, RecoveryVerdict
from warex.effects import effects_with
from warex.llm.actions.vocabulary import Vocabulary
from warex.traces.events import Entry, FaultDelivered, FaultPlanned, RequestSeen
from warex.traffic import BACKGROUND_HOSTS, SHARED_HOSTS

_RELOADABLE = effects_with(lambda traits: traits.recoverable_by_retry)
_JUDGED_BY_VALUES = effects_with(lambda traits: traits.judged_by_values)
_NOT_NEEDED = {
    "variation": "A changed site has nothing to recover from: success is what counts.",
    "attack": "An attack succeeds or is resisted, and is not recovered from: see attacks.",
}
_NO_CALLS = "Network evidence only: the trace has no LLM call."
_BACKGROUND = "The browser connects to this host by itself: no task needs it."
_NOTICEABLE_S = 1.0
"""Seconds of waiting from which the client can notice that the answer does not come."""


def recoveries(
    entries: Sequence[Entry],
    vocabulary: Vocabulary | None = None,
    *,
    solved: bool = False,
    twin: Twin | None = None,
) -> tuple[Recovery, ...]:
    """Judge every delivered injection of a trial, in the order of delivery.

    ``vocabulary`` is the benchmark's, from the manifest; if None, actions are read by their names.
    If the task was ``solved``, a fault without recovery did not need one. ``twin`` is the clean
    trial of the same task, agent and repeat.
    """
    trial = TrialEvents(entries, vocabulary, twin)
    delivered = _injections(entries, trial)
    first = min((one.felt.felt_at for one in delivered), default=0.0)
    return tuple(
        _finished(trial, one, _classify(trial, one, first), first, solved) for one in delivered
    )


def _finished(
    trial: TrialEvents, injection: DeliveredInjection, verdict: Recovery, first: float, solved: bool
) -> Recovery:
    """Add whether the model detected the fault, and the effect of the outcome on the verdict."""
    model = is_model_fault(trial, injection.plan)
    # For a fault of the model, its words and the SDK's retries do not show a detection.
    explaining = verdict.call_seq if verdict.lie is None else None
    by_task = verdict.by_task
    seen = None if model else detection(trial, injection.felt, first, explaining, by_task=by_task)
    if verdict.lie == "noticed":
        verdict = replace(verdict, detected=True, detected_seq=verdict.call_seq)
    elif seen is not None:
        verdict = replace(verdict, detected=seen > 0, detected_seq=seen or None)
    verdict = with_patience(trial, injection, _with_wait(trial, injection, verdict))
    verdict = _with_outcome(trial, injection, verdict, solved)
    is_lie = injection.plan.category == "lie"
    return replace(verdict, lie=lie_from_verdict(trial, verdict)) if is_lie else verdict


def _with_outcome(
    trial: TrialEvents, injection: DeliveredInjection, verdict: Recovery, solved: bool
) -> Recovery:
    """Adjust the verdict to the outcome of the trial."""
    if (
        solved
        and verdict.verdict == "undecided"
        and not is_model_fault(trial, injection.plan)
        and not _lost_answer(trial, injection)
        and not right_requests(trial, injection)
    ):
        # The task was done without another try.
        verdict = replace(verdict, verdict="not_recovered", why=f"{wanted(injection)} again.")
    if not solved or verdict.verdict not in RATED_VERDICTS or verdict.verdict == "recovered":
        return verdict
    verdict = replace(verdict, needed=False)
    if verdict.verdict != "not_recovered":
        return verdict
    return replace(verdict, verdict="not_needed", why="The task was solved all the same.")


def _with_wait(trial: TrialEvents, injection: DeliveredInjection, verdict: Recovery) -> Recovery:
    """Add whether the agent waited for a quota that was used up.

    Requests that a page makes by itself, before the model is asked, do not count.
    """
    if injection.plan.category != "quota":
        return verdict
    since = injection.felt.felt_at
    early = sum(
        one.event.exchange in injection.met and bool(trial.calls_between(since, one.t))
        for one in trial.requests
    )
    if early:
        often = "once" if early == 1 else f"{early} times"
        why = f"{verdict.why} It did not wait: it was refused {often} more."
        return replace(verdict, waited=False, why=why)
    if verdict.request_seq is None:
        return verdict
    return replace(verdict, waited=True, why=f"{verdict.why} It waited for the quota.")


def _injections(entries: Sequence[Entry], trial: TrialEvents) -> list[DeliveredInjection]:
    requests: dict[str, RequestSeen] = {}
    planned: dict[str, tuple[FaultPlanned, float]] = {}
    first: dict[str, str] = {}
    delivered: dict[str, DeliveredInjection] = {}
    for entry in entries:
        match entry.event:
            case RequestSeen() as request:
                requests[request.exchange] = request
            case FaultPlanned() as plan:
                planned[plan.injection] = plan, entry.t
                # A silent repeat by the browser is the same occurrence: one verdict for both.
                again = plan.repeat_of or plan.injection
                first[plan.injection] = first.get(again, again)
            case FaultDelivered() as done if done.injection in planned:
                plan, planned_at = planned[done.injection]
                hit = connection_tries.request_of_try(plan) or requests.get(done.exchange)
                if hit is None:
                    continue
                # A client that is held notices the fault before it is delivered; one that leaves
                # does so by asking again.
                long_hold = done.client_left or done.waited_s >= _NOTICEABLE_S
                since = planned_at if long_hold else entry.t
                priced = planned_at if done.client_left else entry.t
                pages = (*_blocked_windows(done), *_pages(trial, hit))
                met = {done.exchange: done.injection}
                name = first[plan.injection]
                if (before := delivered.get(name)) is not None:
                    # The client also marks the agent's own next try as a repeat.
                    since = before.felt.felt_at
                    pages = tuple(dict.fromkeys((*before.felt.pages, *pages)))
                    met = {**before.met, **met}
                felt = FaultImpact(hit, pages, since, plan.point is not None)
                delivered[name] = DeliveredInjection(plan, done, entry.seq, felt, priced, met)
            case _:
                pass
    return list(delivered.values())


def _classify(trial: TrialEvents, injection: DeliveredInjection, first: float) -> Recovery:  # noqa: C901 - rules, in order
    effects, category = set(injection.plan.effects), injection.plan.category
    if is_model_fault(trial, injection.plan):
        return classify_model_fault(trial, injection)
    if _is_background(injection):
        return injection.judged("not_needed", _BACKGROUND)
    if category in _NOT_NEEDED:
        return injection.judged("not_needed", _NOT_NEEDED[category])
    if category == "wall":
        return judge_wall(trial, injection)
    if category == "session":
        return judge_session(trial, injection)
    if category == "change":
        return judge_change(trial, injection, first)
    if category == "popup":
        return judge_popup(trial, injection, first)
    if effects & _JUDGED_BY_VALUES and _is_false(injection):
        return _judge_lie(trial, injection, first)
    if not effects <= _RELOADABLE:
        return injection.judged("undecided", "No rule says how to recover from this fault.")
    if injection.plan.only_late and not injection.delivered.client_left:
        return injection.judged("not_needed", "Its messages came late or twice, and none was lost.")
    if effects <= KEEPS_ANSWER and not injection.delivered.client_left:
        return injection.judged("not_needed", "The answer came late but whole.")
    if not trial.calls:
        return injection.judged("undecided", _NO_CALLS)
    if trial.vocabulary and not _could_help(trial.vocabulary, injection.hit):
        why = "The benchmark's vocabulary has no action that could recover."
        return injection.judged("not_possible", why)
    if _lost_answer(trial, injection):
        return _judge_lost_answer(trial, injection)
    tries = right_requests(trial, injection)
    unknown: tuple[str, SeenRequest] | None = None
    by_task = False
    for asked in tries:
        if asked.event.exchange in injection.met and not injection.felt.is_connection_try:
            # The quota is still used up, or the wall there. Connection tries may be the agent's.
            continue
        own = ""
        if cause := cause_of(trial, injection.felt, asked):
            own = task_path_reason(trial, injection, asked, cause, first)
            if own and equivalence.is_write(injection.hit):
                # Another write of the same kind: the one that was hit is still lost.
                by_task = True
                continue
            if not own:
                recovery = _recovered(trial, injection, asked, cause, len(tries))
                by_the_way = comes_back(trial, injection, asked, cause, first)
                return replace(recovery, confidence="likely") if by_the_way else recovery
        elif (unread := _unread_before(trial, injection, asked)) is not None:
            unknown = unknown or (unread, asked)
        if asked.t > trial.ended:
            break
        # A reload that is hit by the next injection, or aborted, has not healed anything.
        answered = trial.status(asked.event.exchange) is not None
        if answered and asked.event.exchange not in trial.hit:
            if unknown is None:
                return _healed(trial, injection, asked, len(tries), own)
            break
    if unknown is not None:
        return injection.judged("undecided", unknown[0], unknown[1], len(tries))
    tries = [one for one in tries if one.t <= trial.ended]
    why = f"{wanted(injection)} again"
    why += " by the agent." if tries else "."
    verdict = injection.judged("not_recovered", why, tries=len(tries), is_certain=not tries)
    disagreement = _describe_missing_reload(trial, injection, tries)
    return replace(verdict, by_task=by_task, disagreement=disagreement)


def _is_false(injection: DeliveredInjection) -> bool:
    """Whether the changes are values in place of others, and not what a page met."""
    is_lie = injection.plan.category == "lie"
    return any(is_lie or it.reported_by != "page" for it in injection.delivered.changes)


def _unread_before(
    trial: TrialEvents, injection: DeliveredInjection, asked: SeenRequest
) -> str | None:
    """Return why it is unknown what led to a request; None if all answers could be read."""
    between = trial.calls_between(injection.felt.felt_at, asked.t)
    if any(map(trial.is_unread, between)):
        return "The model was asked in between, but what it chose could not be read."
    if between or not by_program(asked.event) or asked.event.repeat_of is not None:
        return None
    running = [call for call in trial.calls if call.answered <= injection.felt.felt_at]
    if running and trial.is_unread(running[-1]) and running[-1].is_command:
        return "The code that the model wrote may have asked again: it could not be read."
    return None


def _is_background(injection: DeliveredInjection) -> bool:
    """Whether an injection hit a connection that browsers make by themselves."""
    host = connection_tries.host_of(injection.plan)
    return injection.felt.is_connection_try and host in (*BACKGROUND_HOSTS, *SHARED_HOSTS)


def _judge_lie(trial: TrialEvents, injection: DeliveredInjection, first: float) -> Recovery:
    """Judge a false answer: the agent recovers if it doubts it or uses the true value."""
    if not trial.calls:
        return injection.judged("undecided", _NO_CALLS)
    result = lie_from_words(trial, injection.felt, injection.delivered.changes, first)
    if result is None:
        return injection.judged(
            "undecided", "No false value is distinctive enough to be recognised in words."
        )
    verdict, call = VERDICTS[result.lie], result.call
    recovery = replace(injection.judged(verdict, result.why, call=call), lie=result.lie)
    if call is None or verdict != "recovered":
        return recovery
    return injection.priced(trial, recovery, call.answered)


def _lost_answer(trial: TrialEvents, injection: DeliveredInjection) -> bool:
    """Whether the site carried out a write, and only its answer was lost."""
    hit = injection.hit
    if (
        injection.plan.stage != "response"
        or not equivalence.is_write(hit)
        or equivalence.is_idempotent(hit)
    ):
        return False
    return hit.resource == "document" or not is_page_load_request(trial, hit)


def _judge_lost_answer(trial: TrialEvents, injection: DeliveredInjection) -> Recovery:
    """Judge a write that the site carried out, though its answer was lost.

    The agent recovers if it looks at the site again and does not send the write twice.
    """
    felt, hit = injection.felt, injection.hit
    after = [one for one in trial.requests if one.t >= felt.felt_at and one.event is not hit]
    again = [one for one in after if equivalence.same_operation(one.event, hit)]
    again = [one for one in again if one.event.repeat_of is None and one.t <= trial.ended]
    for asked in again:
        if cause := find_cause(trial, felt, asked):
            why = f"The site had carried out {hit.method} {hit.url}, and the agent sent it again."
            return injection.judged("not_recovered", why, asked, len(again), cause.call)
    if again:
        return _healed(trial, injection, again[0], len(again))
    elsewhere = replace(felt, pages=())
    for asked in after:
        by_itself = asked.is_page or by_program(asked.event) or _is_same_place(asked.event, hit)
        by_itself = by_itself or _is_new_here(trial, felt, asked.event)
        shown = by_itself and equivalence.seems_to_read(asked.event)
        if not (shown and same_host(asked.event, hit)):
            continue
        if reason := find_cause(trial, elsewhere, asked):
            return _recovered(trial, injection, asked, reason, 1)
    asked_pages = [one for one in after if one.is_page or by_program(one.event)]
    if any(
        trial.is_unread(c) for one in asked_pages for c in trial.calls_between(felt.felt_at, one.t)
    ):
        return injection.judged("undecided", "The agent's actions are not known.")
    why = f"Whether {hit.method} {hit.url} had been carried out was not looked up."
    return injection.judged("not_recovered", why)


def _is_new_here(trial: TrialEvents, felt: FaultImpact, asked: RequestSeen) -> bool:
    """Whether a page asks for an address that neither the twin nor this trial had asked for.

    A single-page app shows something else then. The query does not count: a poll may change it.
    """
    if trial.twin is None:
        return False
    place = urlsplit(asked.url)._replace(query="", fragment="")
    earlier = [one.event.url for one in trial.requests if one.t < felt.felt_at]
    known = (*earlier, *(one.event.url for one in trial.twin.requests))
    return all(urlsplit(url)._replace(query="", fragment="") != place for url in known)


def _is_same_place(asked: RequestSeen, hit: RequestSeen) -> bool:
    """Whether a request of a page is for the address of a write, or for one above or below it."""
    places = [urlsplit(one.url).path.rstrip("/") for one in (asked, hit)]
    shorter, longer = sorted(places, key=len)
    return bool(shorter) and f"{longer}/".startswith(f"{shorter}/")


def _recovered(
    trial: TrialEvents, injection: DeliveredInjection, asked: SeenRequest, cause: Cause, tries: int
) -> Recovery:
    followed = f"{asked.event.method} {asked.event.url} followed"
    why = f"After the fault the model chose {cause.action.name}, and {followed}."
    verdict = injection.judged(
        "recovered", why, asked, tries, cause.call, is_certain=cause.is_certain
    )
    return injection.priced(trial, verdict, asked.t)


def _healed(
    trial: TrialEvents,
    injection: DeliveredInjection,
    asked: SeenRequest,
    tries: int,
    own: str = "",
) -> Recovery:
    """Return that a fault was healed; ``own``: why the task itself led to the request."""
    between = trial.calls_between(injection.felt.felt_at, asked.t)
    reason = "no action of the model explains it" if between else "the model was not asked"
    # Chromium reloads its own error page, which it shows only if no answer came at all.
    no_answer = trial.status(injection.hit.exchange) is None
    verdict: RecoveryVerdict = "healed_by_page"
    if by_program(asked.event):
        verdict = "healed_by_client"
    elif no_answer and injection.hit.resource == "document":
        verdict = "healed_by_browser"
    who = {"healed_by_browser": "browser", "healed_by_client": "client library"}
    why = f"The {who.get(verdict, 'page')} asked again; {reason} in between."
    if own:
        verdict, why = "healed_by_page", f"It was asked for again, but {own}."
    certain = not between and not own
    recovery = injection.judged(verdict, why, asked, tries, is_certain=certain)
    if own:
        return replace(recovery, by_task=True)
    return replace(recovery, disagreement=_done_without_saying(between))


def _done_without_saying(between: Sequence[ModelCall]) -> str:
    """Say what the model chose, if the right request had another cause."""
    if not between:
        return ""
    last = between[-1]
    names = ", ".join(act.name for act in last.actions)
    chose = f"the model chose {names}" if names else "no action could be read in its answer"
    return f"The right request was made, though {chose} at step {last.event.step} [{last.seq}]."


def _describe_missing_reload(
    trial: TrialEvents, injection: DeliveredInjection, tries: Sequence[SeenRequest]
) -> str:
    """Name an action that should have reloaded the page, if no such request was made."""
    felt = injection.felt
    for place, call in enumerate(trial.calls):
        if call.began < felt.felt_at or not felt.pages:
            continue
        shown = [one.event.url for one in trial.pages(0, call.answered)]
        if not shown or not any(equivalence.same_page(shown[-1], page) for page in felt.pages):
            continue
        chosen = [act.name for act in call.actions if act.does == "reload"]
        until = trial.calls[place + 1].began if place + 1 < len(trial.calls) else None
        done = any(call.answered <= one.t and (until is None or one.t <= until) for one in tries)
        if chosen and not done:
            return (
                f"The model chose {chosen[0]} at step {call.event.step} [{call.seq}], but"
                f" {felt.pages[0]} was not asked for."
            )
    return ""


def _pages(trial: TrialEvents, hit: RequestSeen) -> tuple[str, ...]:
    """Return the URLs of the page that must be requested again, the most certain first.

    If a script changed the URL of the page since it was loaded, there are two.
    """
    if hit.resource == "document" and not equivalence.is_write(hit):
        return (hit.url,)
    earlier = takewhile(lambda one: one.event.exchange != hit.exchange, trial.requests)
    before = [one.event.url for one in earlier if one.is_page]
    # A Referer may be reduced to the origin (Referrer Policy) or name another script: it is the
    # page only if that page was loaded.
    referer = next((v for k, v in hit.headers if k.lower() == "referer"), "")
    if any(equivalence.same_page(referer, one) for one in before):
        return (referer,)
    return tuple(filter(None, (*before[-1:], referer)))


def _blocked_windows(done: FaultDelivered) -> tuple[str, ...]:
    """Return the addresses that a page was to open in windows that did not come."""
    blocked = (it.before for it in done.changes if (it.where, it.after) == ("window", "blocked"))
    return tuple(dict.fromkeys(blocked))


def _could_help(vocabulary: Vocabulary, hit: RequestSeen) -> bool:
    if equivalence.is_write(hit):
        return bool(vocabulary.names.difference(vocabulary.finish, vocabulary.noop))
    return bool(vocabulary.navigate or vocabulary.recover)
