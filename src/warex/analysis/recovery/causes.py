"""Finds the action of the model that led to a request.

An action may explain a request that follows it soon. ``reload`` and ``goto`` always lead to a page.
For a click, the request's headers, its time or the model's words must confirm it. Timers of pages
and Chromium's own reloads are recognised by their times.
"""

import re
from dataclasses import dataclass
from itertools import takewhile

from warex.analysis.recovery import equivalence
from warex.analysis.recovery.action_addresses import (
    begin_of_target,
    host_of_url,
    joined,
    target_of,
)
from warex.analysis.recovery.clients import by_program
from warex.analysis.recovery.connection_tries import split_url
from warex.analysis.recovery.trial_events import (
    ModelAction,
    ModelCall,
    SeenRequest,
    TrialEvents,
    argument_values,
    urls_in,
)
from warex.analysis.recovery.words import speaks_of_retrying
from warex.traces.events import RequestSeen

_LOADS_WITHIN = 12.0
"""Seconds after the model's answer within which an action that loads a page makes its request."""
_CODE_RUNS = 60.0
"""The same for an action in a loop or a branch of the model's code."""
_CLICKS_WITHIN = 5.0
"""The same for a click, whose request could also come from a timer."""
_LOAD_BRINGS = 3.0
"""Seconds after a page's document within which a request belongs to its loading."""
_CHROMIUM_RELOADS = (1.0, 5.0, 30.0, 60.0, 300.0, 600.0, 1800.0)
"""Seconds after which Chromium reloads a page without an answer by itself: the first time, the
second… (components/error_page, AutoReloadController)."""
_LATE = 1.0
_LATE_SHARE = 0.2
"""Tolerated delay on a busy machine: seconds, or a share of the time, whichever is more."""


@dataclass(frozen=True, slots=True)
class FaultImpact:
    """A delivered injection as seen by its client."""

    request: RequestSeen
    """The request that was hit; for a connection try, the page that would have been requested."""
    pages: tuple[str, ...]
    """URLs of the page that must be requested again; empty if there is none."""
    felt_at: float
    """Second of the trial from which the client noticed the fault."""
    is_connection_try: bool
    """Whether it hit a connection try, before there was a request."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The answer, and the action in it, that led to a request."""

    call: ModelCall
    action: ModelAction
    is_certain: bool = False
    """Whether the action names the page, or the browser reports a gesture; not only by its time."""

    @property
    def names_page(self) -> bool:
        """Whether the action by its nature requests the page again."""
        return self.action.does in ("reload", "goto")


def cause_of(trial: TrialEvents, felt: FaultImpact, asked: SeenRequest) -> Cause | None:
    """Return the cause of a request: an action after the fault, or code that was running."""
    return find_cause(trial, felt, asked) or retried_in_code(trial, felt, asked)


def find_cause(trial: TrialEvents, felt: FaultImpact, asked: SeenRequest) -> Cause | None:
    """Return the cause of a request after the fault; None if no action explains it."""
    if asked.event.repeat_of is not None:
        return None
    calls = trial.calls_between(felt.felt_at, asked.t)
    if by_program(asked.event):
        later = reversed(calls)
        causes = (_named(trial, call, asked) or _by_script(trial, call, asked) for call in later)
        return next(filter(None, causes), None)
    has_waited = False
    for call in reversed(calls):
        waited = 0.0
        loads = list(trial.pages(call.answered, asked.t))
        for act in call.actions:
            if act.does == "finish":
                break
            if act.does == "wait":
                waited += _seconds(act)
            elif has_waited and not _types_again(trial, felt, call, act):
                pass
            elif _explains(trial, felt, asked, call, act, waited):
                certain = act.does in ("reload", "goto") or _by_gesture(asked.event)
                return Cause(call, act, certain)
            elif act.does in ("goto", "reload", "back") and loads:
                # The next action is carried out on the page that this one loads.
                waited = max(waited, loads[-1].t - call.answered)
        if not asked.is_page and (quoted := _quoted(trial, call, asked)):
            return Cause(call, quoted)
        if call.actions and (asked.is_page or any(act.does != "wait" for act in call.actions)):
            # Earlier actions are carried out by now. A call without actions does not count.
            return None
        if call.actions or has_waited:
            # A page may send what was typed only after a pause.
            has_waited = True
            continue
        loaded = [] if asked.is_page else list(trial.pages(call.answered, asked.t))
        page = loaded[-1] if loaded else asked
        if asked.t - call.answered <= _LOADS_WITHIN and (cause := _named(trial, call, page)):
            return cause
    return None


def _named(
    trial: TrialEvents, call: ModelCall, asked: SeenRequest, *, is_certain: bool = True
) -> Cause | None:
    """Return the cause of a request if an answer gives its address to a tool or to code.

    A program carries out nothing else between two answers, however long it takes.
    """
    for act in call.actions:
        if act.does == "finish":
            return None
        urls = (url for text in act.all_texts for url in urls_in(text))
        by_program_again = act.does == "reload" and by_program(asked.event)
        if by_program_again or any(_names(trial, url, asked, call.answered) for url in urls):
            return Cause(call, act, is_certain)
        if by_program(asked.event) and _computes(act, asked):
            return Cause(call, act)
    for name, url in call.addresses():
        if _names(trial, url, asked, call.answered):
            return Cause(call, ModelAction(name, "goto", [url]), is_certain)
    if by_program(asked.event) and trial.is_unread(call):
        for url in urls_in(call.event.answer):
            if _names(trial, url, asked, call.answered):
                return Cause(call, ModelAction("the address", "goto", [url]))
    return None


def _by_script(trial: TrialEvents, call: ModelCall, asked: SeenRequest) -> Cause | None:
    """Return the cause of a request if an answer runs a script that an earlier one has written."""
    files = set(_SCRIPT.findall(call.text)) if call.is_command else set()
    for earlier in trial.calls if files else ():
        if earlier.seq < call.seq and files.intersection(_SCRIPT.findall(earlier.text)):
            cause = _named(trial, earlier, asked)
            if cause is not None:
                return Cause(call, cause.action)
    return None


def _names(trial: TrialEvents, url: str, asked: SeenRequest, since: float) -> bool:
    if asked.is_connection_try:
        return host_of_url(url) == host_of_url(asked.event.url)
    return _leads_to(trial, url, asked, since)


def retried_in_code(trial: TrialEvents, felt: FaultImpact, asked: SeenRequest) -> Cause | None:
    """Return the cause of a request that the model's code repeats without asking the model.

    The code was running when the fault came: the action stands in a loop, or in what handles an
    error or an event, and requests the page.
    """
    if asked.event.repeat_of is not None:
        return None
    before = [call for call in trial.calls if call.answered <= asked.t]
    if not before or before[-1].began >= felt.felt_at:
        return None
    call = before[-1]
    for act in call.actions:
        repeats = act.context in ("loop", "handler", "event")
        if repeats and _requests_again(trial, felt, asked, call, act):
            return Cause(call, act)
    if by_program(asked.event) and call.repeats_in_code:
        return _named(trial, call, asked, is_certain=False)
    return None


def _requests_again(
    trial: TrialEvents, felt: FaultImpact, asked: SeenRequest, call: ModelCall, act: ModelAction
) -> bool:
    urls = (url for text in act.all_texts for url in urls_in(text))
    if repeats_request(act, felt) or any(_names(trial, url, asked, call.answered) for url in urls):
        return True
    if by_program(asked.event):
        return act.does == "goto"
    return act.does in ("goto", "reload", "click") and _explains(
        trial, felt, asked, call, act, waited=0.0
    )


def _by_gesture(request: RequestSeen) -> bool:
    """Whether the browser reports a user's gesture (Fetch Metadata)."""
    return ("sec-fetch-user", "?1") in ((name.lower(), value) for name, value in request.headers)


def _explains(
    trial: TrialEvents,
    felt: FaultImpact,
    asked: SeenRequest,
    call: ModelCall,
    act: ModelAction,
    waited: float,
) -> bool:
    late = asked.t - call.answered - waited
    if asked.t > trial.ended and act.does not in ("reload", "goto", "back"):
        return False
    limit = _CODE_RUNS if act.context else _LOADS_WITHIN
    if act.does in ("look", "wait", "finish") or late > limit:
        return False
    if not asked.is_page:
        if act.does == "reload" and asked.event.resource == "document":
            return True  # A script loads a frame again.
        if act.does == "goto" and _fetches(trial, act, asked):
            return True
        loaded = list(trial.pages(call.answered, asked.t))
        if loaded and _explains(trial, felt, loaded[-1], call, act, waited):
            return True
        is_act = act.does in ("click", "type", "back") or _calls_page(act)
        return is_act and _sends(trial, felt, asked, call, act, late)
    target = target_of(act, asked.event.url)
    if asked.is_connection_try:
        same = host_of_url(target) == host_of_url(asked.event.url)
        return act.does == "reload" or (act.does == "goto" and same)
    if act.does == "goto" and target:
        return _leads_to(trial, target, asked, call.answered)
    if act.does == "goto" and (begin := begin_of_target(act)) is not None:
        # Code computes the address, and a browser loads it without a referring page.
        is_direct = not any(name.lower() == "referer" for name, _ in asked.event.headers)
        return is_direct and asked.event.url.startswith(begin)
    if target and host_of_url(target) != host_of_url(asked.event.url):
        return False
    if act.does == "reload":
        return True
    if _is_due_in_chromium(trial, felt, asked, act) and not speaks_of_retrying(call.text):
        return False
    if act.does == "back":
        return True
    return _clicked(trial, asked, call, late)


def _fetches(trial: TrialEvents, act: ModelAction, asked: SeenRequest) -> bool:
    """Whether code that runs in the page names the address of a request: ``fetch("/api/cart")``.

    It may compute the end of the address.
    """
    shown = [page.event.url for page in trial.pages(0, asked.t)]
    page, url = shown[-1] if shown else asked.event.url, asked.event.url
    if any(equivalence.same_page(joined(page, text), url) for text in act.texts if text):
        return True
    begin = begin_of_target(act)
    start = joined(page, begin) if begin else ""
    return len(split_url(start).path) > 1 and url.startswith(start)


def _calls_page(act: ModelAction) -> bool:
    """Whether code calls what loads something without a known address: ``loadItem(7)``."""
    is_call = isinstance(act.arguments, list) and bool(act.arguments)
    is_known = target_of(act, "") or (begin_of_target(act) or "").strip("/")
    return act.does == "goto" and is_call and not is_known


def _quoted(trial: TrialEvents, call: ModelCall, asked: SeenRequest) -> ModelAction | None:
    """Return the code of an answer as an action if it holds the address of a request as a text."""
    if asked.t - call.answered > _CLICKS_WITHIN:
        return None
    shown = [page.event.url for page in trial.pages(0, asked.t)]
    page = shown[-1] if shown else asked.event.url
    waits = {text for act in call.actions if act.does == "wait" for text in act.texts}
    for address in call.quoted_paths():
        url = joined(page, address)
        if address not in waits and equivalence.same_page(url, asked.event.url):
            return ModelAction("code", "goto", [address])
    return None


def _computes(act: ModelAction, asked: SeenRequest) -> bool:
    """Whether a program's code asks for an address that it computes, or for one without a host.

    No other code of a program runs at that time that could make the request.
    """
    if act.does != "goto" or asked.is_connection_try:
        return False
    url = asked.event.url
    paths = [text for text in act.texts if text.startswith("/")]
    if any(equivalence.same_page(joined(url, path), url) for path in paths):
        return True
    begin = begin_of_target(act)
    start = joined(url, begin or "")
    return begin is not None and bool(start) and url.startswith(start)


def _leads_to(trial: TrialEvents, target: str, asked: SeenRequest, since: float) -> bool:
    """Whether a request is for an address, or for what the address redirects to.

    Browsers keep a permanent redirect, and request its target at once.
    """
    places = (target, *trial.landings(target))
    if any(equivalence.same_page(place, asked.event.url) for place in places):
        return True
    return any(
        since <= one.t < asked.t
        and (one.is_page or by_program(one.event))
        and equivalence.same_page(one.event.url, target)
        and (trial.status(one.event.exchange) or 0) // 100 == 3
        for one in trial.requests
    )


def _clicked(trial: TrialEvents, asked: SeenRequest, call: ModelCall, late: float) -> bool:
    """Whether a click can have led to a page.

    On HTTPS the browser reports a user gesture in ``Sec-Fetch-User`` (Fetch Metadata).
    """
    if _by_gesture(asked.event):
        return True
    if late > _CLICKS_WITHIN or _comes_by_itself(trial, asked):
        return False
    if not any(name.lower() == "sec-fetch-mode" for name, _ in asked.event.headers):
        return True
    # A page's script loads the page again without a gesture if a program clicked its button.
    shown = [page.event.url for page in trial.pages(0, asked.t)]
    again = bool(shown) and equivalence.same_page(shown[-1], asked.event.url)
    return again and speaks_of_retrying(call.text)


def _sends(
    trial: TrialEvents,
    felt: FaultImpact,
    asked: SeenRequest,
    call: ModelCall,
    act: ModelAction,
    late: float,
) -> bool:
    """Whether an action made the page send this request, and not a timer of the page."""
    if late > _CLICKS_WITHIN or _comes_by_itself(trial, asked):
        return False
    before = _prompting(trial, felt)
    if before is not None and "type" in (act.does, before.does):
        # A page that saves on each key sends again at the next one, whether or not the last failed.
        same = (act.name, act.arguments) == (before.name, before.arguments)
        if not (same or asked.event.body == felt.request.body or speaks_of_retrying(call.text)):
            return False
    does_it_again = before is not None and any(
        (one.name, one.arguments) == (before.name, before.arguments) for one in call.actions
    )
    return does_it_again or speaks_of_retrying(call.text) or not _went_on(trial, felt, call, asked)


def _went_on(trial: TrialEvents, felt: FaultImpact, call: ModelCall, asked: SeenRequest) -> bool:
    """Whether the action first led to an operation that is new in the trial: to something else."""
    earlier = [one.event for one in trial.requests if one.t < call.answered]
    return any(
        call.answered <= one.t < asked.t
        and one.event.resource not in equivalence.SUBRESOURCES
        and not equivalence.same_operation(one.event, felt.request)
        and not any(equivalence.same_operation(one.event, it) for it in earlier)
        for one in trial.requests
    )


def _prompting(trial: TrialEvents, felt: FaultImpact) -> ModelAction | None:
    """Return the action that led to the request that was hit; None if there is none."""
    hit = next((r for r in trial.requests if r.event.exchange == felt.request.exchange), None)
    if hit is None:
        return None
    calls = [c for c in trial.calls_between(0, hit.t) if hit.t - c.answered <= _CLICKS_WITHIN]
    acts = [act for call in calls for act in call.actions if act.does not in ("wait", "look")]
    return acts[-1] if acts and acts[-1].does in ("click", "type") else None


def _types_again(trial: TrialEvents, felt: FaultImpact, call: ModelCall, act: ModelAction) -> bool:
    """Whether an action types once more what led to the request that was hit."""
    before = _prompting(trial, felt)
    same = before is not None and (act.name, act.arguments) == (before.name, before.arguments)
    return act.does == "type" and (same or speaks_of_retrying(call.text))


def repeats_request(act: ModelAction, felt: FaultImpact) -> bool:
    """Whether an action always requests what a fault took away."""
    if act.does == "reload":
        return True
    if by_program(felt.request):
        urls = (url for text in act.all_texts for url in urls_in(text))
        return any(equivalence.same_page(url, felt.request.url) for url in urls)
    wanted = felt.pages or ((felt.request.url,) if felt.is_connection_try else ())
    target = target_of(act, wanted[0]) if wanted and act.does == "goto" else ""
    if felt.is_connection_try:
        return bool(target) and host_of_url(target) == host_of_url(felt.request.url)
    return bool(target) and any(equivalence.same_page(target, page) for page in wanted)


def is_page_load_request(trial: TrialEvents, request: RequestSeen) -> bool:
    """Whether a page made a request because it was loaded, and not because of an action."""
    hit = next((one for one in trial.requests if one.event.exchange == request.exchange), None)
    return hit is not None and _is_brought(trial, hit)


def _is_brought(trial: TrialEvents, asked: SeenRequest) -> bool:
    pages = list(trial.pages(asked.t - _LOAD_BRINGS, asked.t))
    return bool(pages) and not any(
        pages[-1].t < call.answered <= asked.t for call in trial.calls if call.actions
    )


def _comes_by_itself(trial: TrialEvents, asked: SeenRequest) -> bool:
    """Whether the page makes the same request by itself at other times: a timer, a poll."""
    for one in trial.requests:
        if one is asked or one.t >= asked.t or one.event.repeat_of is not None:
            continue
        if not equivalence.same_operation(one.event, asked.event):
            continue
        prompted = any(
            0 <= one.t - call.answered <= _LOADS_WITHIN for call in trial.calls if call.actions
        )
        loaded = any(trial.pages(one.t - _LOAD_BRINGS, one.t))
        first = one.is_page and not any(trial.pages(0, one.t))
        if not prompted and not loaded and not first:
            return True
    return False


def _is_due_in_chromium(
    trial: TrialEvents, felt: FaultImpact, asked: SeenRequest, act: ModelAction
) -> bool:
    """Whether Chromium would reload the page by itself at about this time.

    It does so only while its error page is open.
    """
    tries = [
        one
        for one in trial.pages(0, asked.t)
        if equivalence.same_page(one.event.url, asked.event.url) and one.event.repeat_of is None
    ]
    failed: list[float] = [felt.felt_at] if felt.is_connection_try else []
    for one in reversed(tries):
        if trial.status(one.event.exchange) is not None:
            break
        failed.append(trial.failed_at(one))
    if not failed:
        return False
    if _has_left(trial, asked, max(failed), act):
        return False
    since_last = asked.t - max(failed)
    return any(
        -0.1 <= since_last - due <= max(_LATE, _LATE_SHARE * due)
        for due in _CHROMIUM_RELOADS[: len(failed)]
    )


def _has_left(trial: TrialEvents, asked: SeenRequest, since: float, act: ModelAction) -> bool:
    """Whether the agent went from a page's error page to another page before an action."""
    others = [
        page.t
        for page in trial.pages(0, asked.t)
        if not equivalence.same_page(page.event.url, asked.event.url)
    ]
    if others and others[-1] > since:
        return True
    chosen = [one for call in trial.calls_between(since, asked.t) for one in call.actions]
    before = takewhile(lambda one: one is not act, chosen)
    return bool(others) and any(one.does == "back" for one in before)


_SCRIPT = re.compile(r"[\w-]+\.(?:py|sh|bash|[cm]?js|ts|rb|pl|php)\b")
"""The name of a file of code."""


def _seconds(act: ModelAction) -> float:
    """Return the seconds that a wait takes at most, by its arguments."""
    seconds = 0.0
    for value in argument_values(act.arguments):
        try:
            number = float(str(value))
        except ValueError:
            continue
        # Playwright uses milliseconds, most agents seconds.
        seconds = max(seconds, number / 1000 if number >= 500 else number)
    return min(seconds or 5.0, 120.0)
