"""A playbook: rules for a model's answers, for any harness and tasks.

The first rule whose patterns all match the request answers it. A rule gives its answers in order
and repeats the last; a repeated request, as after an error, gets the same answer. Each trial has
its own server, and so its own state.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

from warex.agents.scripted_model.reading import text
from warex.text.regex import Regex

LOST = "The playbook has no rule for this request."
"""The answer if no rule matches: text, since clients would retry an error."""


class PlaybookError(ValueError):
    """The playbook cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """One answer: a text, or a call of a tool."""

    text: str = ""
    tool: str | None = None
    arguments: str = ""
    """Of the tool, as JSON."""

    @property
    def all_text(self) -> str:
        """All that was generated, for counting its tokens."""
        return self.text + (self.tool or "") + self.arguments


@dataclass(frozen=True, slots=True)
class LoadedRule:
    """A rule's conditions and answers."""

    when: tuple[Regex, ...]
    """All match the request's texts."""
    last: tuple[Regex, ...]
    """All match its last message's text."""
    unless: tuple[Regex, ...]
    """None matches the request's texts."""
    say: tuple[Any, ...]
    """As written: a text, a tool's call, or JSON."""

    def fits(self, conversation: str, last: str) -> dict[str, str] | None:
        """Return the named groups of its patterns, or None.

        The last match of a pattern counts: the current page comes after those of earlier steps.
        """
        if any(pattern.matches(conversation) for pattern in self.unless):
            return None
        groups: dict[str, str] = {}
        for patterns, prompt in ((self.when, conversation), (self.last, last)):
            for pattern in patterns:
                match = pattern.last_match(prompt)
                if match is None:
                    return None
                groups |= match.named
        return groups


@dataclass(slots=True)
class PlaybookPlayer:
    """The rules and how often each has answered."""

    rules: tuple[LoadedRule, ...]
    _answered: dict[int, int] = field(default_factory=dict)
    _before: tuple[str, ScriptedAnswer] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request_id: str, messages: Sequence[Mapping[str, Any]]) -> ScriptedAnswer:
        """Return what the model says; ``request_id`` is equal for equal bodies."""
        texts = [text(message) for message in messages]
        with self._lock:
            if self._before is not None and self._before[0] == request_id:
                return self._before[1]
            answer = self._find("\n".join(texts), texts[-1])
            self._before = (request_id, answer)
            return answer

    def _find(self, conversation: str, last: str) -> ScriptedAnswer:
        for number, rule in enumerate(self.rules):
            if (groups := rule.fits(conversation, last)) is not None:
                turn = self._answered.get(number, 0)
                self._answered[number] = turn + 1
                return _scripted_answer(_filled(rule.say[min(turn, len(rule.say) - 1)], groups))
        return ScriptedAnswer(LOST)


def load(path: Path) -> PlaybookPlayer:
    """Read a validated playbook in JSON. Raises PlaybookError if it is unreadable or invalid."""
    try:
        data = json.loads(path.read_bytes())
        return PlaybookPlayer(tuple(_rule(rule) for rule in data["rules"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise PlaybookError(f"{path} is not a playbook: {error!r}.") from None


def _rule(data: Mapping[str, Any]) -> LoadedRule:
    def patterns(key: str) -> tuple[Regex, ...]:
        return tuple(Regex(each, multiline=True) for each in data.get(key) or ())

    say = tuple(data["say"])
    if not say:
        raise ValueError("a rule without an answer")
    for each in say:
        _scripted_answer(each)
    return LoadedRule(patterns("when"), patterns("last"), patterns("unless"), say)


def _scripted_answer(data: Any) -> ScriptedAnswer:
    if isinstance(data, str):
        return ScriptedAnswer(data)
    if data.get("tool") is not None:
        return ScriptedAnswer(tool=data["tool"], arguments=json.dumps(data.get("arguments") or {}))
    return ScriptedAnswer(json.dumps(data["json"]))


def _filled(value: Any, groups: Mapping[str, str]) -> Any:
    """Put the groups where the texts name them: ``$bid`` or ``${bid}``."""
    match value:
        case str():
            # What no group is called stays as it is: a dollar may be the price of something.
            return Template(value).safe_substitute(groups) if groups else value
        case list():
            return [_filled(item, groups) for item in value]
        case dict():
            return {key: _filled(item, groups) for key, item in value.items()}
        case _:
            return value
