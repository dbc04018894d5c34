"""What an agent claims at its end: that the task is done, that it is not, or neither."""

import re
from collections.abc import Iterator
from typing import Final, Literal

from pydantic import JsonValue

from warex.analysis.recovery.trial_events import ModelAction, ModelCall, TrialEvents
from warex.analysis.recovery.words import admits_failure, claims_done
from warex.llm.body.lenient_json import parse_json

type Claim = Literal["success", "failure", "unclear"]

_FLAGS: Final = frozenset(
    (
        *("success", "succeeded", "successful", "is_success", "completed", "complete"),
        *("is_complete", "is_completed", "task_completed", "task_complete", "taskcomplete"),
        *("achieved", "goal_achieved", "solved", "finished", "is_done", "done"),
    )
)
"""Fields of an answer that say with a truth value whether the task is done."""
_STATUS: Final = frozenset(("status", "result", "outcome", "state", "verdict", "task_status"))
_TRUE: Final = frozenset(
    (
        *("true", "yes", "success", "successful", "succeeded", "completed", "complete", "done"),
        *("ok", "finished", "solved", "pass", "passed"),
    )
)
_FALSE: Final = frozenset(
    (
        *("false", "no", "fail", "failed", "failure", "error", "errored", "infeasible", "partial"),
        *("impossible", "incomplete", "blocked", "aborted", "abandoned", "unsolved", "gave_up"),
        *("not_done", "not_completed", "unachievable", "not_achievable", "cancelled", "timeout"),
    )
)
_GIVES_UP: Final = re.compile(
    r"infeasible|impossible|give_?up|(?:^|_)(?:fail(?:ed|ure)?|abort|abandon)(?:$|_)|cannot",
    re.IGNORECASE,
)
"""Names of actions that end a task as one that cannot be done."""
_ENDS: Final = re.compile(r"done|finish|complet|terminate|stop|submit", re.IGNORECASE)
"""Names of actions that end a task, with or without an answer."""
_NOTHING: Final = re.compile(r"\s*(?:n/?a|none|null|unknown)?\W*", re.IGNORECASE)
_ASKS: Final = re.compile(r"[?\uff1f\u061f]\s*[\"'\u201d\u00bb\u300d)]*\s*$")
_INTENDS: Final = re.compile(
    r"^\W*(?:i(?:['\u2019]ll| will| am going to| need to)|let(?: me|['\u2019]s)|next,? i|now i)\b",
    re.IGNORECASE,
)
"""How a model announces what it is about to do."""
_VALUE: Final = re.compile(
    r"\d|[\"\u201c\u00ab\u300c][^\"\u201d\u00bb\u300d]+[\"\u201d\u00bb\u300d]|\*\*[^*]+\*\*"
)
"""A number or a quoted text: an answer to a question."""


def claim_of(trial: TrialEvents, judged: Claim | None = None) -> Claim | None:
    """Return what the agent's last answer claims; None without an answer.

    How the task was ended counts first (an action that reports it as infeasible, a field such as
    ``success`` or ``status``), then the words, or what a model has ``judged`` them to claim; words
    of failure deny a field of success. An answer without them that an action gives as the final
    one, or that names a value, is a claim of success.
    """
    last = _last(trial)
    if last is None:
        return None
    if gives_up(trial, last):
        return "failure"
    ending = _ending(last)
    stated = _stated(ending, last)
    in_words = judged or _claim_in_words(ending, last, is_final=_is_final(trial, last))
    if stated is not None:
        return "success" if stated and in_words != "failure" else "failure"
    return in_words


def words_to_judge(trial: TrialEvents) -> str | None:
    """Return the last answer in words; None without any, or if a report of failure ends it."""
    last = _last(trial)
    if last is None or gives_up(trial, last):
        return None
    ending = _ending(last)
    final_text = "\n".join(ending.all_texts) if ending else ""
    return (final_text or last.event.answer).strip() or None


def claim_in_words(text: str) -> Claim:
    """Return what a final answer in words claims, by its words alone."""
    if admits_failure(text) or _NOTHING.fullmatch(text):
        return "failure"
    if _ASKS.search(text) or _INTENDS.search(text):
        return "unclear"
    return "success" if claims_done(text) or _VALUE.search(text) else "unclear"


def _last(trial: TrialEvents) -> ModelCall | None:
    return next((call for call in reversed(trial.calls) if call.text.strip()), None)


def _ending(last: ModelCall) -> ModelAction | None:
    """Return the action that ends the agent's work: by what it does, or by a field that says so."""
    by_field = (act for act in last.actions if any(_flags(act.arguments)))
    return next((act for act in last.actions if act.does == "finish"), next(by_field, None))


def _flags(arguments: JsonValue) -> Iterator[bool]:
    return (name.lower() in _FLAGS and value is True for name, value in _fields(arguments))


def _is_final(trial: TrialEvents, last: ModelCall) -> bool:
    """Whether words without an action can only be the agent's answer: its others have actions."""
    return trial.reads_actions and not last.actions and not last.is_command


def gives_up(trial: TrialEvents, call: ModelCall) -> bool:
    """Whether an answer ends the task as one that cannot be done."""
    known = trial.vocabulary.infeasible if trial.vocabulary else ()
    return any(
        act.name in known or (act.does == "finish" and _GIVES_UP.search(act.name))
        for act in call.actions
    )


def _stated(ending: ModelAction | None, last: ModelCall) -> bool | None:
    """Return whether a field of the ending says that the task is done; None if none does."""
    fields = list(_fields(ending.arguments)) if ending else []
    if not last.actions or ending:
        fields += _fields(_json(last.event.answer))
    known = [done for name, value in fields if (done := _done(name, value)) is not None]
    return all(known) if known else None


def _fields(value: JsonValue, depth: int = 0) -> Iterator[tuple[str, JsonValue]]:
    if not isinstance(value, dict) or depth > 3:
        return
    for name, child in value.items():
        yield name, child
        yield from _fields(child, depth + 1)


def _json(text: str) -> JsonValue:
    try:
        return parse_json(text.strip().removeprefix("```json").strip("`\n ").encode())
    except (ValueError, UnicodeError):
        return {}


def _done(name: str, value: JsonValue) -> bool | None:
    name = name.lower()
    if name not in _FLAGS and name not in _STATUS:
        return None
    if isinstance(value, bool):
        return value
    if not isinstance(value, str):
        return None
    word = re.sub(r"[\s-]+", "_", value.strip().lower())
    if word in _TRUE:
        return True
    return False if word in _FALSE else None


def _claim_in_words(ending: ModelAction | None, last: ModelCall, *, is_final: bool) -> Claim:
    final_text = "\n".join(ending.all_texts) if ending else ""
    text = final_text or last.event.answer
    if ending is None and last.actions and not text.strip():
        # The agent was stopped in the middle of its work.
        return "unclear"
    shown = text if ending is None else final_text
    ends = ending is not None and _ENDS.search(ending.name)
    says_nothing = _NOTHING.fullmatch(shown) and (shown.strip() or not ends)
    if admits_failure(text) or says_nothing:
        return "failure"
    if ending is not None or (is_final and not _INTENDS.search(text)):
        return "unclear" if _ASKS.search(text) and not claims_done(text) else "success"
    return claim_in_words(text)
