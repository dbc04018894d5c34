"""Which action of the model led to a request.

An action explains what follows it soon. How far it can be trusted depends on what it does:
``reload`` and ``goto`` lead to a page by their nature; a click may have led anywhere, so the
browser, the moment, or the model's own words must speak for it. Timers of pages and Chromium's own
reloads come at moments of their own and are told apart by them.
"""

import re
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from warex.analysis.recovery import equivalence
from warex.analysis.recovery.trial_events import ModelAction, ModelCall, SeenRequest, TrialEvents
from warex.traces.events import RequestSeen

_LOADS_WITHIN = 12.0
"""Seconds from the model's answer in which an action that loads a page has made its request."""
_CLICKS_WITHIN = 5.0
"""The same for a click, whose request may as well be the work of a timer."""
_LOAD_BRINGS = 3.0
"""Seconds after a page's document in which it asks for its data by being loaded."""
_CHROMIUM_RELOADS = (1.0, 5.0, 30.0, 60.0, 300.0, 600.0, 1800.0)
"""Seconds after which Chromium loads a page again that got no answer, without being asked, the
first time, the second… (components/error_page, AutoReloadController)."""
_LATE = 1.0
_LATE_SHARE = 0.2
"""How late it may come on a busy machine: seconds, or a share of the time, whichever is more."""
_RETRY = re.compile(
    r"\b(?:re-?load\w*|refresh\w*|re-?try\w*|re-?send\w*|re-?submit\w*|once more|again|anew)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FaultImpact:
    """A delivered injection as its client lived through it."""

    request: RequestSeen
    """What was hit; for an attempt that failed, the page that would have been asked for."""
    pages: tuple[str, ...]
    """URLs of the page that is to be asked for again; empty where there is none."""
    felt_at: float
    """Second of the trial from which the client lived with the fault."""
    attempt: bool
    """Whether it failed before there was a request."""


@dataclass(frozen=True, slots=True)
class Cause:
    """The answer, and the action in it, that led to a request."""

    call: ModelCall
    action: ModelAction


def find_cause(story: TrialEvents, felt: FaultImpact, asked: SeenRequest) -> Cause | None:
    """Return what led to a request after the fault; None if no action explains it."""
    if asked.event.repeat_of is not None:
        return None
    for call in reversed(story.calls_between(felt.felt_at, asked.t)):
        waited = 0.0
        for act in call.actions:
            if act.does == "finish":
                break
            if act.does == "wait":
                waited += _seconds(act)
            elif _explains(story, felt, asked, call, act, waited):
                return Cause(call, act)
        if call.actions:
            # What was chosen before is carried out by now. A call without actions is another's.
            return None
    return None


def _explains(
    story: TrialEvents,
    felt: FaultImpact,
    asked: SeenRequest,
    call: ModelCall,
    act: ModelAction,
    waited: float,
) -> bool:
    late = asked.t - call.answered - waited
    if asked.t > story.ended and act.does not in ("reload", "goto", "back"):
        return False
    if act.does in ("look", "wait", "finish") or late > _LOADS_WITHIN:
        return False
    if not asked.is_page:
        loaded = list(story.pages(call.answered, asked.t))
        if loaded and _explains(story, felt, loaded[-1], call, act, waited):
            return True
        return act.does in ("click", "type") and _sends(story, felt, asked, call, act, late)
    target = _target(act, asked.event.url)
    if asked.attempt:
        same = _host(target) == _host(asked.event.url)
        return act.does == "reload" or (act.does == "goto" and same)
    if act.does == "goto" and target:
        return _leads_to(story, target, asked, call.answered)
    if target and _host(target) != _host(asked.event.url):
        return False
    if act.does == "reload":
        return True
    if _is_due_in_chromium(story, felt, asked) and not _RETRY.search(call.text):
        return False
    if act.does == "back":
        return True
    return _clicked(story, asked, late)


def _leads_to(story: TrialEvents, target: str, asked: SeenRequest, since: float) -> bool:
    """Whether a request is for an address, or for what the address redirects to."""
    if equivalence.same_page(target, asked.event.url):
        return True
    for page in story.pages(since, asked.t):
        status = story.status(page.event.exchange)
        if (
            equivalence.same_page(page.event.url, target)
            and status is not None
            and 300 <= status < 400
        ):
            return True
    return False


def _clicked(story: TrialEvents, asked: SeenRequest, late: float) -> bool:
    """Whether a click can have led to a page.

    On HTTPS the browser says whether a person's gesture did (Fetch Metadata, ``Sec-Fetch-User``).
    """
    told = {name.lower(): value for name, value in asked.event.headers}
    if "sec-fetch-mode" in told:
        return told.get("sec-fetch-user") == "?1"
    return late <= _CLICKS_WITHIN and not _comes_by_itself(story, asked)


def _sends(
    story: TrialEvents,
    felt: FaultImpact,
    asked: SeenRequest,
    call: ModelCall,
    act: ModelAction,
    late: float,
) -> bool:
    """Whether an action made the page send this, and not a timer of the page."""
    if late > _CLICKS_WITHIN or _comes_by_itself(story, asked):
        return False
    before = _prompting(story, felt)
    if before is not None and "type" in (act.does, before.does):
        # A page that saves what is typed saves again at the next key, whatever became of the last.
        same = (act.name, act.arguments) == (before.name, before.arguments)
        return same or asked.event.body == felt.request.body or bool(_RETRY.search(call.text))
    return True


def _prompting(story: TrialEvents, felt: FaultImpact) -> ModelAction | None:
    """Return the action that led to the request that was hit; None if none did."""
    hit = next((r for r in story.requests if r.event.exchange == felt.request.exchange), None)
    if hit is None:
        return None
    calls = [c for c in story.calls_between(0, hit.t) if hit.t - c.answered <= _CLICKS_WITHIN]
    acts = [act for act in (calls[-1].actions if calls else ()) if act.does in ("click", "type")]
    return acts[-1] if acts else None


def repeats_request(act: ModelAction, felt: FaultImpact) -> bool:
    """Whether an action by its nature asks for what a fault took away."""
    if act.does == "reload":
        return True
    wanted = felt.pages or ((felt.request.url,) if felt.attempt else ())
    target = _target(act, wanted[0]) if wanted and act.does == "goto" else ""
    if felt.attempt:
        return bool(target) and _host(target) == _host(felt.request.url)
    return bool(target) and any(equivalence.same_page(target, page) for page in wanted)


def is_page_load_request(story: TrialEvents, request: RequestSeen) -> bool:
    """Whether a page asked for something by being loaded, and not because of an action."""
    hit = next((one for one in story.requests if one.event.exchange == request.exchange), None)
    return hit is not None and _is_brought(story, hit)


def _is_brought(story: TrialEvents, asked: SeenRequest) -> bool:
    pages = list(story.pages(asked.t - _LOAD_BRINGS, asked.t))
    return bool(pages) and not any(
        pages[-1].t < call.answered <= asked.t for call in story.calls if call.actions
    )


def _comes_by_itself(story: TrialEvents, asked: SeenRequest) -> bool:
    """Whether the page asks for the same by itself at other times: a timer, a poll."""
    for one in story.requests:
        if one is asked or one.t >= asked.t or one.event.repeat_of is not None:
            continue
        if not equivalence.same_operation(one.event, asked.event):
            continue
        prompted = any(
            0 <= one.t - call.answered <= _LOADS_WITHIN for call in story.calls if call.actions
        )
        loaded = any(True for _ in story.pages(one.t - _LOAD_BRINGS, one.t))
        first = one.is_page and not any(True for _ in story.pages(0, one.t))
        if not prompted and not loaded and not first:
            return True
    return False


def _is_due_in_chromium(story: TrialEvents, felt: FaultImpact, asked: SeenRequest) -> bool:
    """Whether Chromium would load the page again about now."""
    tries = [
        one
        for one in story.pages(0, asked.t)
        if equivalence.same_page(one.event.url, asked.event.url) and one.event.repeat_of is None
    ]
    failed: list[float] = [felt.felt_at] if felt.attempt else []
    for one in reversed(tries):
        if story.status(one.event.exchange) is not None:
            break
        failed.append(story.failed_at(one))
    if not failed:
        return False
    since_last = asked.t - max(failed)
    return any(
        -0.1 <= since_last - due <= max(_LATE, _LATE_SHARE * due)
        for due in _CHROMIUM_RELOADS[: len(failed)]
    )


_ADDRESS = re.compile(r"/\S*|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?]\S*)?", re.IGNORECASE)


def _target(act: ModelAction, base: str) -> str:
    """Return the address among an action's arguments, made whole; empty for none."""
    for text in act.texts:
        if text.startswith(("http://", "https://")):
            return text
        if act.does == "goto" and _ADDRESS.fullmatch(text):
            return urljoin(base, text) if text.startswith("/") else f"https://{text}"
    return ""


def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _seconds(act: ModelAction) -> float:
    """Return how long a wait takes at most, as far as it says."""
    given = act.arguments
    values = list(given.values()) if isinstance(given, dict) else given
    found = 0.0
    for value in values if isinstance(values, list) else [values]:
        try:
            number = float(str(value))
        except ValueError:
            continue
        # Playwright counts milliseconds, most agents seconds.
        found = max(found, number / 1000 if number >= 500 else number)
    return min(found or 5.0, 120.0)
