"""Finds the action of the model that led to a request.

An action may explain a request that follows it soon. ``reload`` and ``goto`` always lead to a page.
For a click, the request's headers, its time or the model's words must confirm it. Timers of pages
and Chromium's own reloads are recognised by their times.
"""

import re
from dataclasses import dataclass
from urllib.parse import urljoin

from warex.analysis.recovery import equivalence
from warex.analysis.recovery.connection_tries import split_url
from warex.analysis.recovery.trial_events import (
    ModelAction,
    ModelCall,
    SeenRequest,
    TrialEvents,
    argument_values,
)
from warex.traces.events import RequestSeen

_LOADS_WITHIN = 12.0
"""Seconds after the model's answer within which an action that loads a page makes its request."""
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
_RETRY = re.compile(
    r"\b(?:re-?load\w*|refresh\w*|re-?try\w*|re-?send\w*|re-?submit\w*|once more|again|anew)\b",
    re.IGNORECASE,
)


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


def find_cause(trial: TrialEvents, felt: FaultImpact, asked: SeenRequest) -> Cause | None:
    """Return the cause of a request after the fault; None if no action explains it."""
    if asked.event.repeat_of is not None:
        return None
    for call in reversed(trial.calls_between(felt.felt_at, asked.t)):
        waited = 0.0
        for act in call.actions:
            if act.does == "finish":
                break
            if act.does == "wait":
                waited += _seconds(act)
            elif _explains(trial, felt, asked, call, act, waited):
                return Cause(call, act)
        if call.actions:
            # Earlier actions are carried out by now. A call without actions does not count.
            return None
    return None


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
    if act.does in ("look", "wait", "finish") or late > _LOADS_WITHIN:
        return False
    if not asked.is_page:
        loaded = list(trial.pages(call.answered, asked.t))
        if loaded and _explains(trial, felt, loaded[-1], call, act, waited):
            return True
        return act.does in ("click", "type") and _sends(trial, felt, asked, call, act, late)
    target = _target(act, asked.event.url)
    if asked.is_connection_try:
        same = _host(target) == _host(asked.event.url)
        return act.does == "reload" or (act.does == "goto" and same)
    if act.does == "goto" and target:
        return _leads_to(trial, target, asked, call.answered)
    if target and _host(target) != _host(asked.event.url):
        return False
    if act.does == "reload":
        return True
    if _is_due_in_chromium(trial, felt, asked) and not _RETRY.search(call.text):
        return False
    if act.does == "back":
        return True
    return _clicked(trial, asked, late)


def _leads_to(trial: TrialEvents, target: str, asked: SeenRequest, since: float) -> bool:
    """Whether a request is for an address, or for what the address redirects to."""
    if equivalence.same_page(target, asked.event.url):
        return True
    return any(
        equivalence.same_page(page.event.url, target)
        and (trial.status(page.event.exchange) or 0) // 100 == 3
        for page in trial.pages(since, asked.t)
    )


def _clicked(trial: TrialEvents, asked: SeenRequest, late: float) -> bool:
    """Whether a click can have led to a page.

    On HTTPS the browser reports a user gesture in ``Sec-Fetch-User`` (Fetch Metadata).
    """
    headers = {name.lower(): value for name, value in asked.event.headers}
    if "sec-fetch-mode" in headers:
        return headers.get("sec-fetch-user") == "?1"
    return late <= _CLICKS_WITHIN and not _comes_by_itself(trial, asked)


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
        return same or asked.event.body == felt.request.body or bool(_RETRY.search(call.text))
    return True


def _prompting(trial: TrialEvents, felt: FaultImpact) -> ModelAction | None:
    """Return the action that led to the request that was hit; None if there is none."""
    hit = next((r for r in trial.requests if r.event.exchange == felt.request.exchange), None)
    if hit is None:
        return None
    calls = [c for c in trial.calls_between(0, hit.t) if hit.t - c.answered <= _CLICKS_WITHIN]
    acts = [act for act in (calls[-1].actions if calls else ()) if act.does in ("click", "type")]
    return acts[-1] if acts else None


def repeats_request(act: ModelAction, felt: FaultImpact) -> bool:
    """Whether an action always requests what a fault took away."""
    if act.does == "reload":
        return True
    wanted = felt.pages or ((felt.request.url,) if felt.is_connection_try else ())
    target = _target(act, wanted[0]) if wanted and act.does == "goto" else ""
    if felt.is_connection_try:
        return bool(target) and _host(target) == _host(felt.request.url)
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


def _is_due_in_chromium(trial: TrialEvents, felt: FaultImpact, asked: SeenRequest) -> bool:
    """Whether Chromium would reload the page by itself at about this time."""
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
    since_last = asked.t - max(failed)
    return any(
        -0.1 <= since_last - due <= max(_LATE, _LATE_SHARE * due)
        for due in _CHROMIUM_RELOADS[: len(failed)]
    )


_ADDRESS = re.compile(r"/\S*|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?]\S*)?", re.IGNORECASE)


def _target(act: ModelAction, base: str) -> str:
    """Return the absolute URL among an action's arguments; empty if there is none."""
    for text in act.texts:
        if text.startswith(("http://", "https://")):
            return text
        if act.does == "goto" and _ADDRESS.fullmatch(text):
            return urljoin(base, text) if text.startswith("/") else f"https://{text}"
    return ""


def _host(url: str) -> str:
    return (split_url(url).hostname or "").removeprefix("www.")


def _seconds(act: ModelAction) -> float:
    """Return the seconds that a wait takes at most, by its arguments."""
    found = 0.0
    for value in argument_values(act.arguments):
        try:
            number = float(str(value))
        except ValueError:
            continue
        # Playwright uses milliseconds, most agents seconds.
        found = max(found, number / 1000 if number >= 500 else number)
    return min(found or 5.0, 120.0)
