"""Actions of an agent, and the calls in its code that may be actions."""

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field
from pydantic import JsonValue

from warex.text.lazy_pattern import lazy_re

type Context = Literal["", "loop", "handler", "branch", "event"]
"""Where in its code an action stands: in a loop, in what handles an error, in a branch, in what is
called when something happens later. Such an action is carried out any number of times, or not at
all."""
_RANK: Mapping[Context, int] = {"": 0, "branch": 1, "handler": 2, "loop": 3, "event": 4}


def inner_context(outer: Context, inner: Context) -> Context:
    """Return the context of ``inner`` within ``outer``."""
    return max(outer, inner, key=_RANK.__getitem__)


class Action(Struct, frozen=True):
    """One action; ``arguments`` are unquoted texts if given by position, a mapping if by name."""

    name: str
    arguments: tuple[str, ...] | Mapping[str, JsonValue] = ()
    context: Context = ""


type Language = Literal["python", "javascript", "shell", "robot", "applescript"]


class Code(Struct, frozen=True):
    """A piece of code that an agent runs."""

    language: Language
    source: str
    context: Context = ""


class CodeCall(Struct, frozen=True):
    """A call in code, or a command in a shell: ``driver.get(url)``, ``agent-browser open URL``."""

    name: str
    """The function, the method, or the command of a program: ``get``, ``open``."""
    receiver: str = ""
    """What the method is called on, or the program: ``driver``, ``agent-browser``."""
    arguments: tuple[str, ...] = ()
    """By position, after those of the calls that the receiver consists of."""
    keywords: Mapping[str, str] = field(default_factory=dict)
    module: str = ""
    """The module from which the function or the receiver comes; empty if unknown."""
    is_receiver: bool = False
    """Whether a method is called on its result."""
    is_command: bool = False
    """Whether it is a command in a shell."""
    context: Context = ""

    @property
    def full_name(self) -> str:
        """The name with its receiver: ``driver.get``."""
        return f"{self.receiver}.{self.name}" if self.receiver else self.name

    def as_action(self, name: str) -> Action:
        """Return the action with this name that the call is."""
        by_name = bool(self.keywords) and not self.arguments
        arguments = (*self.arguments, *self.keywords.values())
        return Action(name, dict(self.keywords) if by_name else arguments, self.context)


_FINDERS = lazy_re(
    r"(must)?(find|get|query|wait_?for|select)_?(by|element|selector|one|xpath|all)s?\w*"
    r"|(must)?(find|element|locator|xpath|css|ele|selector)s?(_?\w{1,2})?|\$\$?x?|until|first|nth",
    re.IGNORECASE,
)


def finds_element(name: str) -> bool:
    """Whether a function with this name finds an element of a page by what it is given."""
    return _FINDERS.fullmatch(name) is not None


_LISTENS = lazy_re(
    r"[Oo]n(?:ce|e)?(?:_\w+|[A-Z]\w*)?|(?i:add_?(?:event_?|locator_?)?(?:listener|handler)\w*"
    r"|subscribe|listen\w*|each_?event|(?:un)?route\w*|intercept|register|signal|ajax_?\w+"
    r"|after_?(?:each|all)|defer|add_?init_?script|expose_?(?:function|binding))"
)


def listens(name: str) -> bool:
    """Whether a function with this name has what it is given called later: ``page.on``."""
    return _LISTENS.fullmatch(name) is not None
