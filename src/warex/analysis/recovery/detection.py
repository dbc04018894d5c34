"""Reads the model's words: whether it noticed a fault, and what it claims at the end."""

import re

from warex.analysis.recovery.causes import FaultImpact, repeats_request
from warex.analysis.recovery.trial_events import ModelCall, TrialEvents

_TROUBLE = re.compile(
    r"\berr(?:or|_)\w*|\bfail\w*|\bunavailable\b|\bunreachable\b|\bunresponsive\b|\bunable\b"
    r"|\b(?:can(?:no|')?t|could(?:n't| not)|did(?:n't| not)|does(?:n't| not)|do(?:n't| not)"
    r"|is(?:n't| not)|was(?:n't| not)|has(?:n't| not)|won't|not|never)\s+(?:\w+\s+){0,2}?"
    r"(?:reach|load|open|access|connect|display|render|respond|work|complet|available|appear|show"
    r"|found|answer|there|go(?:ne)? through|get through|confirm)\w*"
    r"|\btim(?:ed|es|e)?[- ]?out\w*|\brefused\b|\breset\b|\binterrupted\b|\bbroken?\b|\bbroke\b"
    r"|\bblank\b|\bempty page\b|\bcrash\w*|\b(?:is|seems|be|site|server|page) down\b|\boffline\b"
    r"|\boutage\b|\bwrong\b|\bproblem\w*|\btrouble\b|\bissue\w*|\bstuck\b|\bstill loading\b"
    r"|\btr(?:y|ying|ied)\b[^.\n]{0,40}\bagain\b|\bretr(?:y|ies|ied|ying)\b|\bre-?load\w*|\brefresh\w*"
    r"|\bonce more\b|\b(?:HTTP|status|code|error)\W{0,3}[45]\d\d\b|\b(?:50[0-4]|429|40[348])\b"
    r"|\bbad gateway\b|\bmaintenance\b|\btoo (?:long|slow)\b|\bnothing happen\w*|\bno response\b"
    r"|\bno effect\b|\bwent through\b|\bgone\b|\bmissing\b|\blost\b|\bdead\b|\bslow\b|\bhang\w*",
    re.IGNORECASE,
)
_ADMITS = re.compile(
    r"\b(?:unable|cannot|impossible|infeasible|unsuccessful\w*|unavailable|unreachable|fail(?:ed|s|ure)?"
    r"|error|gave up|give up|giving up|not (?:possible|able|available|found|reachable|complete[d]?)"
    r"|(?:can|could|did|do|does|was|were)(?:n't| not) (?:\w+ ){0,2}?"
    r"(?:able|find|found|complete|load|loaded|reach|reached|open|access|get|do|place|determine|confirm"
    r"|work|finish|respond)\w*)\b|\bcan't\b|^\s*(?:n/?a|none|unknown)?\W*$",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"\b(?:no|without|any|zero)\s+(?:\w+\s+)?(?:error|problem|issue|failure|trouble)s?\b",
    re.IGNORECASE,
)


def detection(
    trial: TrialEvents, felt: FaultImpact, first: float, explaining: int | None
) -> int | None:
    """Return the line of the first call that shows that the model noticed the fault; 0 for none.

    None if it was not asked after the fault. ``first`` is the second of the trial's first fault,
    ``explaining`` the line of the call whose action recovered. Words that the model used before the
    first fault do not count.
    """
    after = [call for call in trial.calls if call.began >= felt.felt_at]
    if not after:
        return None
    usual = {word for call in trial.calls if call.answered <= first for word in trouble(call.text)}
    for call in after:
        if call.seq == explaining or any(repeats_request(act, felt) for act in call.actions):
            return call.seq
        if _calls_it_infeasible(trial, call) or trouble(call.text) - usual:
            return call.seq
    return 0


def trouble(text: str) -> set[str]:
    """Return the words that describe something that does not work, in lower case."""
    return {found[0].lower() for found in _TROUBLE.finditer(_DENIED.sub(" ", text))}


def claims_success(trial: TrialEvents) -> bool | None:
    """Return whether the agent's last answer says that the task is done; None without an answer.

    It does unless it ends the task as infeasible, says ``success: false``, or admits that something
    could not be done.
    """
    last = next((call for call in reversed(trial.calls) if call.text.strip()), None)
    if last is None:
        return None
    ending = next((act for act in last.actions if act.does == "finish"), None)
    given = ending.arguments if ending else None
    failed = isinstance(given, dict) and given.get("success") in (False, "false", "False")
    if failed or _calls_it_infeasible(trial, last):
        return False
    return not _ADMITS.search("\n".join(ending.texts) if ending else last.event.answer)


def _calls_it_infeasible(trial: TrialEvents, call: ModelCall) -> bool:
    given_up = trial.vocabulary.infeasible if trial.vocabulary else ()
    return any(act.name in given_up for act in call.actions)
