"""Whether an agent closed a popup, left it, or loaded the page without it."""

from collections.abc import Sequence
from dataclasses import replace

from warex.analysis.recovery.causes import cause_of
from warex.analysis.recovery.connection_tries import same_host
from warex.analysis.recovery.right_requests import DeliveredInjection, right_requests
from warex.analysis.recovery.task_path import task_path_reason
from warex.analysis.recovery.trial_events import PageReport, SeenRequest, TrialEvents
from warex.analysis.recovery.verdicts import Recovery

_CLOSES = ("dismissed", "accepted")
"""Reports of a popup that was closed."""
_LED_AWAY = ("followed", "visited")
"""Reports of a popup whose site was opened."""
_OF_BROWSER = frozenset(("alert", "confirm", "prompt", "beforeunload", "print"))
"""The dialogs of a browser itself, as the ledger has them; a driver may answer them unasked."""


def judge_popup(trial: TrialEvents, injection: DeliveredInjection, first: float) -> Recovery:
    """Judge a popup by the reports of the page and of the site to which it leads.

    The agent recovers if it closes the popup, returns from that site, or loads the page without it.
    """
    reports = trial.reports.get(injection.plan.injection, [])
    if any(change.where in _OF_BROWSER for change in injection.delivered.changes):
        return _judge_browser_dialog(trial, injection, reports)
    led = [report for report in reports if report.what in _LED_AWAY]
    closed = next((report for report in reports if report.what in _CLOSES), None)
    if led:
        pages = (one for one in trial.requests if led[-1].t < one.t <= trial.ended and one.is_page)
        back = next((one for one in pages if same_host(one.event, injection.hit)), None)
        if back is None:
            why = "The agent followed the popup to another site, and did not come back."
            return injection.judged("not_recovered", why)
        recovery = injection.judged("recovered", "The agent came back from the popup's site.", back)
        until = back.t
    elif closed is not None:
        recovery = injection.judged("recovered", f"The popup was {closed.what}.")
        until = closed.t
    else:
        again = [it for it in right_requests(trial, injection) if it.t <= trial.ended]
        by_script = trial.foreign_reports.get(injection.plan.injection, ())
        closing = next((report for report in by_script if report.what in _CLOSES), None)
        if closing is not None:
            why = (
                f"The popup was {closing.what} by a script, which no action of the model explains."
            )
            return injection.judged("healed_by_page", why)
        without = next((it for it in again if _is_without(trial, injection, it, first)), None)
        if without is None:
            return injection.judged("not_recovered", "The popup was not closed.", tries=len(again))
        why = "The page was loaded again, without the popup."
        recovery = injection.judged("recovered", why, without, len(again), is_certain=False)
        until = without.t
    # The model saw the popup when it chose to close or leave it.
    chose = trial.calls_between(injection.felt.felt_at, until)
    recovery = replace(recovery, call_seq=chose[-1].seq if chose else None)
    return injection.priced(trial, recovery, until)


def _judge_browser_dialog(
    trial: TrialEvents, injection: DeliveredInjection, reports: Sequence[PageReport]
) -> Recovery:
    """Judge a dialog that blocks its tab: the agent recovers if it answers it.

    An answer that came before the model was asked is the driver's. One that stopped a form is
    recovered from once the form is sent.
    """
    closed = next((report for report in reports if report.what in _CLOSES), None)
    if closed is None:
        return injection.judged("not_recovered", "The dialog was not answered: the tab is blocked.")
    chose = trial.calls_between(injection.felt.felt_at, closed.t)
    if closed.detail:
        sent = next((one for one in reports if one.what == "submitted" and one.t > closed.t), None)
        if sent is None:
            why = f"The dialog was {closed.what}: {closed.detail}, then or later."
            return injection.judged("not_recovered", why)
        chose = trial.calls_between(injection.felt.felt_at, sent.t)
        if not chose:
            why = "The page sent the form again before the model was asked."
            return injection.judged("healed_by_page", why)
        why = f"The dialog was {closed.what}, and the form was sent later."
        recovery = injection.judged("recovered", why, call=chose[-1])
        return injection.priced(trial, recovery, sent.t)
    if not chose:
        why = f"The dialog was {closed.what} before the model was asked: by the driver."
        return injection.judged("healed_by_client", why)
    recovery = injection.judged("recovered", f"The dialog was {closed.what}.", call=chose[-1])
    return injection.priced(trial, recovery, closed.t)


def _is_without(
    trial: TrialEvents, injection: DeliveredInjection, asked: SeenRequest, first: float
) -> bool:
    """Whether a request of the agent's loads a page again, and no fault hits it."""
    if asked.event.exchange in trial.hit:
        return False
    cause = cause_of(trial, injection.felt, asked)
    return cause is None or not task_path_reason(trial, injection, asked, cause, first)
