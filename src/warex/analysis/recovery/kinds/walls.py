"""Whether an agent passed a wall that stood in place of a page."""

from collections.abc import Iterator
from math import inf

from warex.analysis.recovery import equivalence
from warex.analysis.recovery.causes import cause_of
from warex.analysis.recovery.connection_tries import same_host
from warex.analysis.recovery.right_requests import DeliveredInjection, right_requests
from warex.analysis.recovery.trial_events import SeenRequest, TrialEvents
from warex.analysis.recovery.verdicts import Recovery


def judge_wall(trial: TrialEvents, injection: DeliveredInjection) -> Recovery:
    """Judge a wall in place of a page: the agent recovers if it passes it and the page comes.

    If a session was ended and the site's own login follows, it recovers if the page comes later.
    """
    reports = [one for name in injection.met.values() for one in trial.reports.get(name, ())]
    passed = min((one.t for one in reports if one.what == "cleared"), default=None)
    since = injection.felt.felt_at
    tries = right_requests(trial, injection)
    if equivalence.is_write(injection.hit):
        tries = sorted((*tries, *_pages_after_login(trial, injection)), key=lambda one: one.t)
    for asked in tries:
        between = trial.calls_between(since, asked.t)
        is_page = 200 <= (trial.status(asked.event.exchange) or 0) < 300
        # A request that follows at once is the browser's redirect to the site's login.
        late = bool(between) if passed is None else asked.t >= passed
        if asked.event.exchange in injection.met or not (is_page and late):
            continue
        if asked.t > trial.ended and cause_of(trial, injection.felt, asked) is None:
            break
        way = "was passed" if passed is not None else "was left behind"
        why = f"The wall {way}, and the page came."
        last = between[-1] if between else None
        recovery = injection.judged("recovered", why, asked, len(tries), last)
        return injection.priced(trial, recovery, asked.t)
    passed_it = "was passed, but the page did not come" if passed is not None else "was not passed"
    return injection.judged("not_recovered", f"The wall {passed_it}.", tries=len(tries))


def _pages_after_login(trial: TrialEvents, injection: DeliveredInjection) -> Iterator[SeenRequest]:
    """Yield the site's pages that follow a later write of another kind: its login.

    A write that a wall stopped is sent again by the site or the agent, or was carried out.
    """
    since, hit = injection.felt.felt_at, injection.hit
    passed = [
        one.t
        for one in trial.requests
        if equivalence.is_write(one.event)
        and trial.calls_between(since, one.t)
        and not equivalence.same_operation(one.event, hit)
    ]
    for page in trial.pages(min(passed, default=inf), inf):
        if not equivalence.is_write(page.event) and same_host(page.event, hit):
            yield page
