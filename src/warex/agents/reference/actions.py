"""Parses one action in a model's text, without evaluating code."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

type Value = str | int | float

PARAMETERS: dict[str, tuple[tuple[str, type], ...]] = {
    "click": (("id", str),),
    "fill": (("id", str), ("text", str)),
    "select_option": (("id", str), ("label", str)),
    "press": (("id", str), ("key", str)),
    "scroll": (("dx", float), ("dy", float)),
    "goto": (("url", str),),
    "go_back": (),
    "reload": (),
    "noop": (("ms", float),),
    "send_msg_to_user": (("text", str),),
    "report_infeasible": (("why", str),),
}
"""The action names with their parameters, in order. Numbers are pixels and milliseconds."""

_OPTIONAL = {"noop": 1}

_CALL = re.compile(rf"(?<![\w.])({'|'.join(PARAMETERS)})\s*\(")
_STRING = re.compile(r"'(?:\\.|[^'\\])*+'|\"(?:\\.|[^\"\\])*+\"|\\[^\r\n]", re.DOTALL)
"""A string; or an escape outside of one, so that its quote does not start a string."""


class BadAction(ValueError):
    """The reply has no valid action; the message, for the model, says why."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action of the model: a name of `PARAMETERS` and its arguments."""

    name: str
    arguments: tuple[Value, ...] = ()

    def text(self, index: int) -> str:
        """Return an argument as text."""
        return str(self.arguments[index])

    def number(self, index: int, default: float = 0) -> float:
        """Return an argument as a number, or the default if missing."""
        return float(self.arguments[index]) if index < len(self.arguments) else default


def parse(reply: str) -> Action:
    """Return the action a reply asks for.

    The first call at the beginning of a line counts, else the last call in the text. Raises
    BadAction for no action, an unreadable one, or wrong arguments.
    """
    calls = list(_calls(reply))
    if not calls:
        raise BadAction(
            "The reply holds no action. Write exactly one of: " + ", ".join(PARAMETERS) + "."
        )
    begins_line = [source for source, at_line_start in calls if at_line_start]
    return _read(begins_line[0] if begins_line else calls[-1][0])


def _calls(reply: str) -> Iterator[tuple[str, bool]]:
    """Yield the source of each call and whether it begins its line."""
    position = 0
    while match := _CALL.search(reply, position):
        end = _closing_bracket(reply, match.end())
        line_start = reply.rfind("\n", 0, match.start()) + 1
        before = reply[line_start : match.start()]
        yield reply[match.start() : end], not before.strip(" \t`*>-")
        position = end


def _closing_bracket(text: str, position: int) -> int:
    """Return where the call whose first argument starts at `position` ends."""
    depth = 1
    while position < len(text):
        if string := _STRING.match(text, position):
            position = string.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        position += 1
        if depth == 0:
            break
    return position


def _read(source: str) -> Action:
    name = source.split("(", 1)[0].strip()
    try:
        # A model may break a line inside a string; Python does not.
        one_line = _STRING.sub(lambda it: it[0].replace("\r", "").replace("\n", "\\n"), source)
        call = ast.parse(one_line, mode="eval").body
        if not isinstance(call, ast.Call) or call.keywords:
            raise BadAction(f"{name} takes plain values: {usage(name)}.")
        values = [ast.literal_eval(argument) for argument in call.args]
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        if isinstance(error, BadAction):
            raise
        raise BadAction(
            f"This action cannot be read: {source[:200]!r}. Use {usage(name)}."
        ) from None
    return Action(name, _checked(name, values))


def _checked(name: str, values: list[object]) -> tuple[Value, ...]:
    parameters = PARAMETERS[name]
    if not len(parameters) - _OPTIONAL.get(name, 0) <= len(values) <= len(parameters):
        raise BadAction(f"{name} got {len(values)} arguments. Use {usage(name)}.")
    checked: list[Value] = []
    for (parameter, kind), value in zip(parameters, values, strict=False):
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise BadAction(f"{name}: {parameter} is {value!r}. Use {usage(name)}.")
        if kind is float:
            if isinstance(value, str) or value != value or abs(value) > 1e9:
                raise BadAction(f"{name}: {parameter} is {value!r}, not a number it can use.")
            checked.append(value)
        else:
            checked.append(str(value))
    return tuple(checked)


def usage(name: str) -> str:
    """Return the syntax of an action: ``fill('id', 'text')``."""
    shown = (f"'{p}'" if kind is str else p for p, kind in PARAMETERS[name])
    return f"{name}({', '.join(shown)})"
