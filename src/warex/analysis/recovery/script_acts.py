"""Whether what a script did in a page was done by the agent.

A page's own script can click as an agent's can that runs code in the page (``el.click()``). Such an
act is the agent's only if its model asked for it in the same step: by code that acts, or
by a click on that element or on one that only a number names. Pure; reads nothing but the trace.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pydantic import JsonValue

from warex.llm.actions.guess import guess_actions, recorded_calls
from warex.llm.actions.name_heuristics import action_kind_with_arguments
from warex.traces.events import AgentAction, Entry, FaultDelivered, LlmCall, Witness

_CLICKING: Final = re.compile(
    r"\.(?:click|tap|check|uncheck|submit|requestSubmit|press)\s*\(|dispatch_?event|js_?click", re.I
)
_TYPING: Final = re.compile(
    r"\.(?:fill|type|send_keys|setRangeText)\s*\(|\.value\s*=|dispatch_?event|set_?value", re.I
)
_OPENING: Final = re.compile(
    r"\blocation\b|\b(?:goto|navigate|open|get|fetch)\s*\(|\.click\s*\(", re.I
)
_TYPED: Final = frozenset(("typed", "collected"))
_OPAQUE: Final = re.compile(r"[\W_]*[A-Za-z]{0,2}[\W_]*\d+[\W_]*")
"""A reference that names nothing by words: ``[12]``, ``e12``, ``a51``."""
_WORDS: Final = ("dialog", "popup", "pop-up", "modal", "overlay", "dismiss")
_SHORTEST: Final = 2
"""Characters of a label that can be found in an action."""


def without_foreign_acts(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return a trial's entries without the acts of scripts that were not the agent's."""
    foreign = set(foreign_acts(entries))
    return tuple(entry for entry in entries if entry.seq not in foreign)


def foreign_acts(entries: Iterable[Entry]) -> Iterator[int]:
    """Yield the ``seq`` of each act by a script that no action of the agent says."""
    labels: dict[str, tuple[str, ...]] = {}
    calls: list[LlmCall] = []
    actions: dict[str, list[AgentAction]] = {}
    for entry in entries:
        match entry.event:
            case FaultDelivered(injection=injection, changes=changes):
                labels[injection] = tuple(change.after for change in changes if change.after)
            case LlmCall() as call:
                calls.append(call)
            case AgentAction() as action:
                actions.setdefault(action.exchange, []).append(action)
            case Witness(by="script") as act:
                step = [one for one in calls if one.began + one.latency_s <= entry.t][-1:]
                named = labels.get(act.injection, ())
                if not any(_says(one, actions.get(one.exchange, ()), act, named) for one in step):
                    yield entry.seq
            case _:
                pass


def _says(call: LlmCall, read: Sequence[AgentAction], act: Witness, labels: Sequence[str]) -> bool:
    is_typing = act.what in _TYPED
    calls = [one for one in call.tool_calls if isinstance(one, dict)]
    text = "\n".join((call.answer, *(str(one.get("arguments")) for one in calls)))
    acting = _TYPING if is_typing else _OPENING if act.what == "visited" else _CLICKING
    if acting.search(text):
        return True
    guessed = guess_actions(call.answer, recorded_calls(call.tool_calls))
    wanted = ("type",) if is_typing else ("click",)
    chosen = [
        *((one.name, one.arguments) for one in read),
        *((one.name, _as_json(one.arguments)) for one in guessed),
    ]
    return any(
        action_kind_with_arguments(name, arguments) in wanted
        and _may_name(arguments, labels, is_typing=is_typing)
        for name, arguments in chosen
    )


def _as_json(arguments: object) -> JsonValue:
    if isinstance(arguments, tuple):
        return list(arguments)
    return dict(arguments) if isinstance(arguments, dict) else None


def _may_name(arguments: JsonValue, labels: Sequence[str], *, is_typing: bool) -> bool:
    """Whether an action's arguments name one of the labels, or an element without words.

    Of an action that types, one of the arguments is the text.
    """
    texts = list(_texts(arguments))
    readable = [text.lower() for text in texts if not _OPAQUE.fullmatch(text)]
    if len(readable) <= is_typing:
        return len(texts) > len(readable)
    known = [*(label.lower() for label in labels if len(label) >= _SHORTEST), *_WORDS]
    return any(label in text for label in known for text in readable)


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts and numbers in a JSON value."""
    match value:
        case bool() | None:
            return
        case str() if value.strip():
            yield value.strip()
        case int() | float():
            yield str(value)
        case list():
            for one in value:
                yield from _texts(one)
        case dict():
            for one in value.values():
                yield from _texts(one)
        case _:
            return
