"""What a trial of the second corpus consists of: an agent's script, and a variant with faults."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.analysis.trajectories.second_collector.sites import Page, World

KINDS = (
    *("spa", "code", "selenium", "computer_use"),
    *("no_browser", "languages", "harness", "traps"),
)

type Rule = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Say:
    """A model's answer: text, and calls of tools."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


type Words = str | Say


def tool(name: str, text: str = "", /, **arguments: Any) -> Say:
    """Return an answer that calls one tool."""
    return Say(text, ((name, arguments),))


type Step = tuple[str, Words]
"""An answer, and the regular expression that the observation must match for it.

The expression's first group replaces %FOUND% in later answers.
"""


AGAIN = "@again"
"""A reaction: give the previous step's answer again."""
BLIND = "@blind"
"""A reaction: go on as if nothing had happened."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Faults, and what the model does when it does not see what it expects."""

    name: str
    rules: Sequence[Rule]
    reactions: Sequence[Words] = ()
    """One after the other, for each observation that does not match."""
    give_up: Words | None = None
    """The answer after the last reaction; None: the script's own."""
    kinds: tuple[str, ...] = ()
    """Besides the script's own."""
    arm: str = "start"
    silent: bool = False
    """After the last reaction the model server closes its connections without an answer."""


@dataclass(frozen=True, slots=True)
class Script:
    """A task and an agent's script, with variants; `agent` is a module of `agents`."""

    name: str
    kinds: tuple[str, ...]
    agent: str
    options: Mapping[str, Any]
    hosts: Mapping[str, Page]
    task: str
    steps: Sequence[Step]
    give_up: Words
    solved: Callable[[World, str], bool]
    variants: Sequence[Variant]
    scheme: str = "https"
    vocabulary: Mapping[str, Any] | None = None
    extra: Sequence[str] = field(default=())
    """Further options of `warex exec`."""


def answers(text: str) -> Callable[[World, str], bool]:
    """Return a check that the last answer contains a text."""
    return lambda world, message: text.lower() in message.lower()


def rule(fault: str, url: str = "*", times: Any = 1, **more: Any) -> Rule:
    """Return a rule; `times` is a number of first exchanges, or a whole trigger.

    Keys of `match` are `method`, `resource`, `llm`, `content_type`; `per` is the rule's; all others
    are the fault's parameters.
    """
    match: dict[str, Any] = {} if url == "*" else {"url": url}
    for key in ("method", "resource", "llm", "content_type"):
        if key in more:
            match[key] = more.pop(key)
    after = more.pop("after_step", None)
    trigger = dict(times) if isinstance(times, Mapping) else {"first": times}
    if after is not None:
        trigger["after_step"] = after
    made: Rule = {"trigger": trigger}
    if match:
        made["match"] = match
    if "per" in more:
        made["per"] = more.pop("per")
    return made | {"fault": {"kind": fault} | more}
