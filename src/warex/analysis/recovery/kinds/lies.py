"""What an agent did with an answer that looked healthy and was false.

The changes of the fault hold the true and the false values. They are searched for in the words of
the agent's model after the lie, in what it typed, and in its last answer.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from warex.analysis.recovery.causes import FaultImpact
from warex.analysis.recovery.detection import detection
from warex.analysis.recovery.trial_events import ModelCall, TrialEvents
from warex.analysis.recovery.verdicts import LieOutcome, Recovery, RecoveryVerdict
from warex.traces.event_parts import ChangedValue

_DOUBT = re.compile(
    r"\binconsisten\w*|\bmismatch\w*|\bdiscrepan\w*|\bsuspicious\w*|\bcontradict\w*|\bconflict\w*"
    r"|\bdo(?:es)?(?:n't| not) (?:match|add up|make sense|agree|fit)\w*|\bdiffer(?:s|ent)? from\b"
    r"|\bunexpected\w*|\bincorrect\w*|\binaccurate\w*|\bstale\b|\boutdated\b|\bstrange\w*|\bodd\b"
    r"|\bweird\w*|\bdoubt\w*|\bcorrupt\w*|\bimplausib\w*|\bmistake\w*"
    r"|\b(?:double|cross)[- ]check\w*|\bexpected\b[^.\n]{0,40}\bbut\b|\bdid(?:n't| not) expect\b",
    re.IGNORECASE,
)
_TWO = re.compile(
    r"\btwice\b|\bduplicat\w*|\b(?:two|2) (?:identical|equal|times|copies|of (?:them|it|these))\b"
    r"|\bdoubled?\b|\balready (?:exists?|there)\b",
    re.IGNORECASE,
)
"""Words for something that appears twice."""
_AMOUNT = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\b")
_NO_VALUES = frozenset(("", "null", "true", "false", "[]", "{}", "once", "twice"))
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
VERDICTS: Final[Mapping[LieOutcome, RecoveryVerdict]] = {
    "noticed": "recovered",
    "worked_around": "recovered",
    "passed_on": "not_recovered",
    "not_affected": "not_needed",
}


@dataclass(frozen=True, slots=True)
class LieResult:
    """The outcome of a lie, and the call that shows it."""

    lie: LieOutcome
    why: str
    call: ModelCall | None = None


def lie_from_words(
    trial: TrialEvents, felt: FaultImpact, changes: Sequence[ChangedValue], first: float
) -> LieResult | None:
    """Return the outcome of a lie; None if the trace does not show it.

    ``first`` is the second of the trial's first fault.
    """
    after = [call for call in trial.calls if call.began >= felt.felt_at]
    texts = [(call, text) for call in after for text in _texts_of(call, last=call is after[-1])]
    comparable = list(_comparable(changes))
    true = [one for one in comparable if any(_says(text, one.before) for _, text in texts)]
    for one in comparable:
        false = [(call, text) for call, text in texts if _says(text, one.after or "")]
        if false and one not in true and not any(_DOUBT.search(text) for _, text in false):
            why = f"The agent gave {one.after!r}, where the site had said {one.before!r}."
            return LieResult("passed_on", why, false[0][0])
    doubt = _TWO if any(one.after == "twice" for one in changes) else _DOUBT
    if (seen := _noticed(trial, felt, after, first, doubt)) is not None:
        return LieResult("noticed", "The agent doubted it, or asked for the same again.", seen)
    if true:
        one = true[0]
        call = next(call for call, text in texts if _says(text, one.before))
        why = f"The agent gave {one.before!r}, and not {one.after!r}."
        return LieResult("worked_around", why, call)
    if not comparable:
        return None
    return LieResult("not_affected", "The agent gave neither the true value nor the false one.")


def lie_from_verdict(trial: TrialEvents, verdict: Recovery) -> LieOutcome | None:
    """Return the outcome of a lie by its verdict, if its values cannot be found in words.

    An agent that asked again, or mentioned trouble, noticed it. One that did neither and gave an
    answer passed it on, unless the task was solved.
    """
    if verdict.lie is not None or verdict.verdict in ("undecided", "not_possible"):
        return verdict.lie
    if verdict.verdict == "recovered" or (verdict.verdict == "not_recovered" and verdict.detected):
        return "noticed"
    if verdict.verdict != "not_recovered":
        return "not_affected"
    answered = trial.calls and any(act.does == "finish" for act in trial.calls[-1].actions)
    return "passed_on" if answered else None


def _texts_of(call: ModelCall, *, last: bool) -> Iterator[str]:
    """Yield the texts that a call types into a page or gives as the agent's answer."""
    for act in call.actions:
        if act.does in ("type", "finish"):
            yield from act.texts
    if last and not call.actions:
        yield call.event.answer


def _comparable(changes: Sequence[ChangedValue]) -> Iterator[ChangedValue]:
    """Yield the changes whose false value is not a true one elsewhere, as a swapped one is."""
    true = {change.before for change in changes}
    for change in changes:
        values = (change.before, change.after)
        if change.after is not None and change.after not in true and not _NO_VALUES & {*values}:
            yield change


def _noticed(
    trial: TrialEvents,
    felt: FaultImpact,
    after: Sequence[ModelCall],
    first: float,
    doubt: re.Pattern[str],
) -> ModelCall | None:
    """Return the first call after the lie whose words or actions show a new doubt."""
    before = [call for call in trial.calls if call.answered <= first]
    usual = {word for call in before for word in _doubts(call, doubt)}
    candidates = [call.seq for call in after if _doubts(call, doubt) - usual]
    candidates += filter(None, (detection(trial, felt, first, None),))
    return next((call for call in after if candidates and call.seq == min(candidates)), None)


def _doubts(call: ModelCall, doubt: re.Pattern[str]) -> set[str]:
    words = "\n".join((call.text, *(text for act in call.actions for text in act.texts)))
    return {match[0].lower() for match in doubt.finditer(words)}


def _says(text: str, value: str) -> bool:
    """Whether a text contains a value: a number by its amount, a date in any usual format."""
    if day := _DATE.match(value):
        return _says_day(text, *day.groups())
    amounts = [_amount(match[0]) for match in _AMOUNT.finditer(value)]
    if len(amounts) == 1 and len(re.sub(r"[^a-z]", "", value.lower())) <= 3:
        unit = re.sub(r"[0-9.,\s]", "", value)
        return any(
            _amount(match[0]) == amounts[0] and _fits_unit(text, match, unit)
            for match in _AMOUNT.finditer(text)
        )
    pattern = rf"(?<!\w){re.escape(' '.join(value.split()))}(?!\w)"
    return re.search(pattern, " ".join(text.split()), re.IGNORECASE) is not None


def _fits_unit(text: str, match: re.Match[str], unit: str) -> bool:
    """Whether an amount has the value's unit next to it, or no other currency."""
    around = text[max(0, match.start() - 4) : match.end() + 4]
    other = re.search(r"[$\u20ac\u00a3\u00a5\u20b9]", around)
    return not unit or unit in around or other is None


def _amount(written: str) -> Decimal:
    decimals = re.search(r"[.,]([0-9]{1,2})$", written)
    integer = written[: decimals.start()] if decimals else written
    digits = re.sub(r"[.,]", "", integer)
    return Decimal(f"{digits}.{decimals[1]}" if decimals else digits)


def _says_day(text: str, year: str, month: str, day: str) -> bool:
    name = _MONTHS[int(month) - 1] if 1 <= int(month) <= 12 else "-"
    one, two = int(day), int(month)
    spelled = (
        rf"\b{year}-{month}-{day}(?!\d)"
        rf"|\b0?{one}(?:st|nd|rd|th)?\.? (?:of )?{name}|\b{name}[a-z]*\.? 0?{one}(?!\d)"
        rf"|\b0?{one}[./]0?{two}\b|\b0?{two}[./]0?{one}\b"
    )
    return re.search(spelled, text, re.IGNORECASE) is not None
