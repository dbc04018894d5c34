"""Whether the model noticed a fault, by its words and actions."""

from math import inf

from warex.analysis.recovery.causes import FaultImpact, repeats_request
from warex.analysis.recovery.claims import gives_up
from warex.analysis.recovery.trial_events import ModelCall, TrialEvents
from warex.analysis.recovery.words import trouble_in


def detection(
    trial: TrialEvents,
    felt: FaultImpact,
    first: float,
    explaining: int | None,
    *,
    by_task: bool = False,
) -> int | None:
    """Return the line of the first call that shows that the model noticed the fault; 0 for none.

    None if it was not asked after the fault. ``first`` is the second of the trial's first fault,
    ``explaining`` the line of the call whose action recovered. Words that the model used before the
    first fault do not count, nor do actions that lead to the page again if the task does so anyway
    (``by_task``).
    """
    after = [call for call in trial.calls if call.began >= felt.felt_at]
    if not after:
        return None
    usual = _usual(trial, first)
    for call in after:
        again = (act for act in call.actions if not by_task or act.does == "reload")
        if call.seq == explaining or any(repeats_request(act, felt) for act in again):
            return call.seq
        if gives_up(trial, call) or trouble_in(call.text) - usual:
            return call.seq
    return 0


def noticed_in_words(
    trial: TrialEvents, felt: FaultImpact, first: float, until: float = inf
) -> bool:
    """Whether the model used new words of trouble after a fault, up to a second of the trial."""
    usual = _usual(trial, first)
    return any(
        trouble_in(call.text) - usual for call in trial.calls if felt.felt_at <= call.began <= until
    )


def new_trouble(trial: TrialEvents, call: ModelCall, first: float) -> set[str]:
    """Return the words of trouble in a call that were not used before the trial's first fault."""
    return set(trouble_in(call.text)) - _usual(trial, first)


def _usual(trial: TrialEvents, first: float) -> set[str]:
    return {
        word for call in trial.calls if call.answered <= first for word in trouble_in(call.text)
    }
