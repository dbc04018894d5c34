"""Whether the task itself leads to a request, so that it is not an attempt to recover.

The twin shows it best. Without one, the page's own requests do: a redirect after a write, a request
that another page makes, too, and a page to which the agent comes back later.
"""

from itertools import takewhile

from warex.analysis.recovery import connection_tries, equivalence
from warex.analysis.recovery.causes import Cause
from warex.analysis.recovery.detection import noticed_in_words
from warex.analysis.recovery.right_requests import DeliveredInjection
from warex.analysis.recovery.trial_events import SeenRequest, TrialEvents
from warex.analysis.recovery.twin import AT_ONCE, is_redirect, same_request
from warex.traces.events import RequestSeen

_LOAD_BRINGS = 3.0
"""Seconds after a page's document within which a request belongs to its loading."""


def task_path_reason(
    trial: TrialEvents,
    injection: DeliveredInjection,
    asked: SeenRequest,
    cause: Cause,
    first: float,
) -> str:
    """Return why the task leads to a request that an action caused; empty if nothing shows it.

    ``first`` is the second of the trial's first fault.
    """
    if _twin_requests_it(trial, injection, asked, cause):
        return "the clean trial of the task makes this request here, too"
    if asked.is_connection_try or injection.felt.is_connection_try or cause.action.does == "reload":
        return ""
    write = _redirected_from(trial, asked.event)
    if write is not None and not _sent_before(trial, injection, write):
        return f"the site redirected to it after {write.method} {write.url}"
    # A click in a single-page app that fetches the page which was hit is a way to it.
    leads_to_page = injection.hit.resource == "document" and cause.action.does == "click"
    if not (asked.is_page or leads_to_page) and (page := _other_page(trial, injection, asked)):
        opened = [it.event for it in trial.pages(0, asked.t)]
        is_chosen = trial.twin is not None and not any(map(trial.twin.opens, opened[-1:]))
        if not (is_chosen and noticed_in_words(trial, injection.felt, first, asked.t)):
            return f"{page} makes the same request"
    by_the_way = cause.action.does in ("click", "type") and injection.hit.resource != "document"
    if by_the_way and comes_back(trial, injection, asked, cause, first):
        return "the agent had gone on to other pages, and came back without a word of trouble"
    return ""


def _twin_requests_it(
    trial: TrialEvents, injection: DeliveredInjection, asked: SeenRequest, cause: Cause
) -> bool:
    if trial.twin is None or asked.is_connection_try:
        return False
    began, hit = injection.hit_at(trial), injection.hit
    number = sum(
        one.t < began
        and same_request(one.event, asked.event)
        and one.event.exchange not in trial.altered
        and one.event.repeat_of is None
        and not is_redirect(one.event, trial.status(one.event.exchange))
        for one in trial.requests
    )
    if not injection.felt.is_connection_try and not same_request(hit, asked.event):
        # A part of a page was hit: the page itself came.
        number -= 1
    same_body = hit.body > 0 and hit.body == asked.event.body
    repeat = trial.twin.repeats(asked.event, max(number, 0), same_body=same_body)
    if repeat is None or (cause.names_page and not repeat.steps and not repeat.model_acted):
        return False
    following = (call.began for call in trial.calls if call.began > asked.t)
    until = min(asked.t + AT_ONCE, next(following, asked.t + AT_ONCE))
    path = [one.event for one in trial.requests if began < one.t <= until and one is not asked]
    return repeat.is_taken_by(path)


def _redirected_from(trial: TrialEvents, page: RequestSeen) -> RequestSeen | None:
    """Return the write that was answered with a redirect to a page; None if there is none."""
    earlier = takewhile(lambda one: one.event.exchange != page.exchange, trial.requests)
    documents = [one.event for one in earlier if one.event.resource == "document"]
    if page.resource != "document" or not documents or not equivalence.is_write(documents[-1]):
        return None
    return documents[-1] if (trial.status(documents[-1].exchange) or 0) // 100 == 3 else None


def _sent_before(trial: TrialEvents, injection: DeliveredInjection, write: RequestSeen) -> bool:
    """Whether the same write had led to what was hit: then the agent sent it again."""
    first = next((one for one in trial.requests if one.event.exchange in injection.met), None)
    led = _redirected_from(trial, first.event) if first is not None else None
    return led is not None and equivalence.same_operation(led, write)


def _other_page(trial: TrialEvents, injection: DeliveredInjection, asked: SeenRequest) -> str:
    """Return the page other than the one that was hit that made a request; empty for none."""
    page = _referer(asked.event)
    if not page or page == _origin(page):
        loaded = list(trial.pages(asked.t - _LOAD_BRINGS, asked.t))
        page = loaded[-1].event.url if loaded else ""
    pages = injection.felt.pages
    return "" if not page or any(equivalence.same_page(page, one) for one in pages) else page


def comes_back(
    trial: TrialEvents,
    injection: DeliveredInjection,
    asked: SeenRequest,
    cause: Cause,
    first: float,
) -> bool:
    """Whether the agent had gone on to other pages before a request, without a word of trouble."""
    felt = injection.felt
    page = asked
    if not asked.is_page:
        loaded = list(trial.pages(cause.call.answered, asked.t))
        if not loaded:
            return False
        page = loaded[-1]
    elsewhere = [
        one
        for one in trial.pages(felt.felt_at, page.t)
        if not any(equivalence.same_page(one.event.url, it) for it in felt.pages)
        and (trial.status(one.event.exchange) or 400) < 400
    ]
    return bool(elsewhere) and not noticed_in_words(trial, felt, first, page.t)


def _referer(request: RequestSeen) -> str:
    return next((value for name, value in request.headers if name.lower() == "referer"), "")


def _origin(url: str) -> str:
    parts = connection_tries.split_url(url)
    return f"{parts.scheme}://{parts.netloc}/"
