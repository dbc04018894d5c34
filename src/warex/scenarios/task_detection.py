"""Rules that find tasks in the traffic, if the harness does not mark them.

A rule searches the messages of a call to the model, or a URL, for the task's name, which is then
the current task. A name that returns after another one shows that several tasks run at the same
time: each call then belongs to the task that it names, and the tasks of pages are unknown.

The harnesses' texts are those of the versions in ``docs/how-to/tasks.md``.
"""

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, Literal

from msgspec import Struct, field
from pydantic import BaseModel, JsonValue

from warex.errors import InputError
from warex.llm import LlmRequest
from warex.text.regex import Regex, RegexError

_PART: Final = "\x1e"
"""Separates the parts of a message, and messages."""
_LONGEST: Final = 80
_MOST: Final = 10_000
_DEEPEST: Final = 8


class TaskRule(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """How to find tasks in the traffic. Patterns are regular expressions (RE2)."""

    name: str
    text: str | None = None
    """Finds the task in a call's messages, as its group ``task``."""
    of: Literal["first", "last", "all"] = "all"
    """Which of the user's messages to search."""
    url: str | None = None
    """Finds the task in `METHOD URL`."""
    first: str | None = None
    """Matches only messages of a task's first step, so that the same task can begin again."""
    begins_alone: bool = False
    """Whether a call with a system prompt and only one message is a first step."""
    ends: str | None = None
    """Matches the `METHOD URL` of a request after a task, or before the next one's first call."""
    not_task: str | None = None
    """Matches texts that only look like a task's name."""
    conversation: bool = False
    """Whether each new conversation with a model is a task."""

    @cached_property
    def regexes(self) -> Mapping[str, Regex]:
        """The given patterns, by key."""
        patterns = {key: getattr(self, key) for key in ("text", "url", "first", "ends", "not_task")}
        return {key: Regex(it) for key, it in patterns.items() if it is not None}

    def matches(self, key: str, text: str) -> bool:
        """Whether the pattern of this key is given and matches."""
        return key in self.regexes and self.regexes[key].matches(text)

    def find(self, key: str, text: str) -> str | None:
        """Return the task that the pattern of this key finds; None if there is none."""
        match = self.regexes[key].last_match(text) if key in self.regexes else None
        return None if match is None else match.named.get("task", "")

    @classmethod
    def parse(cls, text: str) -> "TaskRule":
        """Return the rule of a built-in name, ``text:REGEX`` or ``url:REGEX``.

        Raises InputError for anything else.
        """
        if text in BUILT_IN_RULES:
            return BUILT_IN_RULES[text]
        kind, colon, pattern = text.partition(":")
        if colon and kind in ("text", "url"):
            try:
                has_task = "task" in Regex(pattern).names
            except RegexError as error:
                raise InputError(f"--tasks {kind}: {error}") from None
            if not has_task:
                raise InputError(f"--tasks {text!r}: the pattern has no group (?P<task>...)")
            return cls.model_validate({"name": kind, kind: pattern})
        raise InputError(
            f"--tasks {text!r} is not a rule; give text:REGEX or url:REGEX with a group"
            f" (?P<task>...), or one of {', '.join(BUILT_IN_RULES)}"
        )


_READY: Final = (
    TaskRule(
        name="webarena",
        # The examples before it, which are system messages, contain OBJECTIVE, too.
        text=r"OBJECTIVE: (?P<task>(?s:.+?))\nPREVIOUS ACTION:",
        of="last",
        first=r"PREVIOUS ACTION: None",
    ),
    TaskRule(
        name="step",
        text=r"OBJECTIVE:\s*\n(?P<task>(?s:.+?))\nOBSERVATION:",
        of="last",
        # A sub-policy is given its call as its objective.
        not_task=r"^\w+ \[(?s:.*)\]$",
    ),
    TaskRule(
        name="real",
        url=r"^GET [^?]+/config\?(?:[^#]*&)?task_id=(?P<task>[^&#]+)",
        # The harness reads the result after the agent's last call.
        ends=r"^GET https?://[^/]+/finish(?:[?#]|$)",
    ),
    TaskRule(
        name="webvoyager",
        text=r"Now given a task: (?P<task>(?s:.+?))\s+Please interact with ",
        of="first",
        begins_alone=True,
    ),
    TaskRule(
        name="agentlab",
        text=r"(?:## Goal:\s*\x1e?\s*|following goal on a website:\s+)(?P<task>[^\x1e]+)",
    ),
    TaskRule(name="miniwob", url=r"^GET [^?#]*/miniwob/(?P<task>[\w.-]+)\.html(?:[?#]|$)"),
    TaskRule(
        name="browser-use",
        text=r"<user_request>\s*(?P<task>(?s:.+?))\s*</user_request>",
        first=r"Agent initialized",
    ),
    TaskRule(
        name="webarena-infinity",
        text=r"<user_request>(?s:.*?)Your task: (?P<task>(?s:.+?))\s*</user_request>",
        first=r"Agent initialized",
        ends=r"^POST https?://[^/]+/api/reset(?:[?#]|$)",
    ),
    TaskRule(name="conversation", conversation=True),
)
BUILT_IN_RULES: Final[Mapping[str, TaskRule]] = {rule.name: rule for rule in _READY}
"""The rules for harnesses, and for conversations, by name."""


class TaskChange(Struct, frozen=True):
    """A task that was found in the traffic."""

    task: str | None
    """The current task; None if the last one is over."""
    begins: bool = False
    told_by: Literal["rule", "conversation"] = "rule"
    alone: bool = False
    """Whether only this call belongs to it, since tasks run concurrently."""


class TaskDetector(Struct):
    """Finds the tasks of one trial by a rule."""

    rule: TaskRule
    at_the_same_time: bool = False
    """Whether a task has returned after another one."""
    _now: str | None = None
    _known: dict[str, int] = field(default_factory=dict)
    """The conversations, by the digest of their first message."""
    _seen: set[str] = field(default_factory=set)
    _last_digest: str = ""
    """The body of the last call that named a task; an equal next one is a client's retry."""

    def request(self, method: str, url: str) -> TaskChange | None:
        """Read a request; None if it shows nothing about tasks."""
        what = f"{method} {url}"
        if self.rule.matches("ends", what):
            return self.over()
        name = _named(self.rule.find("url", what))
        return None if name is None else self._change_to(name, again=False)

    def call(self, call: LlmRequest) -> TaskChange | None:
        """Read a call to the model; None if it shows nothing about tasks."""
        if self.rule.conversation:
            return self._conversation(call)
        messages = _of_user(call.messages)
        text = _PART.join(
            {"first": messages[:1], "last": messages[-1:], "all": messages}[self.rule.of]
        )
        name_text = self.rule.find("text", text)
        name = _named(name_text)
        if name_text is None or name is None or self.rule.matches("not_task", name_text.strip()):
            return None
        first = self.rule.matches("first", text)
        first |= self.rule.begins_alone and len(messages) == 1 == len(_but_system(call.messages))
        again = first and call.body_digest != self._last_digest
        self._last_digest = call.body_digest
        return self._change_to(name, again=again)

    def over(self) -> TaskChange | None:
        """Note that the task is over; None without a task."""
        if self._now is None:
            return None
        self._now = None
        return TaskChange(None)

    def _conversation(self, call: LlmRequest) -> TaskChange | None:
        if call.continues is not None:
            # The API stores the earlier messages, so they are not sent again.
            return None
        messages = _of_user(call.messages)
        if not messages:
            return None
        # A digest, since some first messages contain a whole page.
        key = hashlib.blake2b(messages[0].encode("utf-8", "replace"), digest_size=8).hexdigest()
        if key not in self._known and len(self._known) >= _MOST:
            return None
        number = self._known.setdefault(key, len(self._known) + 1)
        return self._change_to(f"conversation {number}", again=False)

    def _change_to(self, name: str, *, again: bool) -> TaskChange:
        changes = name != self._now
        # Without a sign of first steps, a task that returns may have begun again.
        surely = self.rule.conversation or self.rule.first is not None or self.rule.begins_alone
        if changes and self._now is not None and name in self._seen and surely and not again:
            self.at_the_same_time = True
        if len(self._seen) < _MOST:
            self._seen.add(name)
        self._now = name
        return TaskChange(
            name,
            changes or again,
            "conversation" if self.rule.conversation else "rule",
            self.at_the_same_time,
        )


def _named(text: str | None) -> str | None:
    """Return a task's name from the match, one short line without secrets; None if empty."""
    if not text:
        return None
    # Imported late, so that commands start fast.
    from warex.traces import redact_text

    line = redact_text(" ".join(text.replace(_PART, " ").split()))
    line = "".join(it if it.isprintable() else "?" for it in line)
    if len(line) <= _LONGEST:
        return line or None
    digest = hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()
    return f"{line[:_LONGEST]}… {digest}"


def _of_user(messages: list[JsonValue]) -> list[str]:
    """Return the texts of the user's messages, their parts joined."""
    return [
        _PART.join(_texts(message))
        for message in messages
        if isinstance(message, dict) and message.get("role") == "user"
    ]


def _but_system(messages: list[JsonValue]) -> list[JsonValue]:
    system = ("system", "developer")
    return [it for it in messages if not (isinstance(it, dict) and it.get("role") in system)]


def _texts(value: JsonValue, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < _DEEPEST:
        for each in value:
            yield from _texts(each, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        for key in ("content", "parts", "text"):
            yield from _texts(value.get(key), depth + 1)
