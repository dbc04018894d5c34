"""Where on a screenshot an action points, as a share of its width and height, or in its pixels."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

from warex.llm.actions.base import Action
from warex.llm.actions.guess import guess_actions, recorded_calls
from warex.traces.events import LlmCall

type Unit = Literal["pixel", "thousandth"]

_PLACES: Final = ("coordinate", "start_coordinate", "coordinates", "point", "start_box", "position")
"""Arguments that hold both numbers: Anthropic's computer tool, UI-TARS, and others."""
_POINTING: Final = re.compile(r"click|tap|press|move|drag|hover|mouse|touch", re.IGNORECASE)
_NUMBER: Final = r"(-?\d+(?:\.\d+)?)"
_PAIR: Final = re.compile(rf"{_NUMBER}\s*[,\s]\s*{_NUMBER}")
_IN_THOUSANDTHS: Final = re.compile(r"\w+_at|drag_and_drop")
"""Gemini's computer use counts in thousandths of the picture."""


@dataclass(frozen=True, slots=True)
class ClickPoint:
    """A point on the screenshot that the model was shown."""

    x: float
    y: float
    unit: Unit
    action: str
    """The name of the action."""


def click_points(call: LlmCall) -> Iterator[ClickPoint]:
    """Yield the points of the actions in a model's answer."""
    for action in guess_actions(call.answer, recorded_calls(call.tool_calls)):
        if (place := _place(action)) is not None:
            is_gemini = call.family.startswith("gemini") and _IN_THOUSANDTHS.fullmatch(action.name)
            yield ClickPoint(*place, "thousandth" if is_gemini else "pixel", action.name)


def _place(action: Action) -> tuple[float, float] | None:
    arguments = action.arguments
    if isinstance(arguments, Mapping):
        return _named(arguments)
    if len(arguments) >= 2 and _POINTING.search(action.name):
        return _pair(f"{arguments[0]} {arguments[1]}")
    return None


def _named(arguments: Mapping[str, JsonValue]) -> tuple[float, float] | None:
    if "x" in arguments and "y" in arguments:
        return _pair(f"{arguments['x']} {arguments['y']}")
    for name in _PLACES:
        match arguments.get(name):
            case str() as text:
                match = _PAIR.search(text)
                return _pair(match[0]) if match else None
            case [x, y, *_]:
                return _pair(f"{x} {y}")
            case {"x": x, "y": y}:
                return _pair(f"{x} {y}")
            case _:
                pass
    match arguments.get("path"):
        case [{"x": x, "y": y}, *_]:
            return _pair(f"{x} {y}")
        case _:
            return None


def _pair(text: str) -> tuple[float, float] | None:
    """Return two numbers that stand alone in a text."""
    match = _PAIR.fullmatch(text)
    return (float(match[1]), float(match[2])) if match else None
