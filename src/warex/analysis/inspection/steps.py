"""The steps of the model: page, prompt and answer."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pydantic import JsonValue

from warex.llm.base import ABNORMAL_FINISH
from warex.traces.events import (
    AgentAction,
    Entry,
    FaultDelivered,
    LlmCall,
    RequestSeen,
    ResponseSeen,
)

_SPOKEN = frozenset(
    ("text", "content", "output", "input", "arguments", "name", "thinking", "result", "response")
)
"""Keys of the APIs that hold text of people and tools."""
_DATA = frozenset(("action", "actions", "args", "arguments", "input", "json", "response"))
"""Keys of some APIs that hold an object: the arguments or the result of a tool."""
_BLOB = "blob:"


@dataclass(frozen=True, slots=True)
class NewMessage:
    """The new lines of one message of a prompt."""

    role: str
    lines: tuple[str, ...]
    """Lines that the previous prompt did not have, without empty ones."""


@dataclass(frozen=True, slots=True)
class ModelStep:
    """One call to the model, with the page before it and the actions after it."""

    seq: int
    """The call's line of the trace."""
    number: int
    """Number of the agent's step; repeats of a call have the same."""
    t: float
    """Seconds from the trial's beginning to the call."""
    model: str
    page: str
    """The last document that the browser requested before, and its result; may be empty."""
    faults: tuple[str, ...]
    """Injections delivered since the previous call."""
    prompt: tuple[NewMessage, ...]
    """The new messages of the prompt."""
    characters: int
    """Of the whole prompt."""
    answer: str
    error: str
    """Why there is no usable answer, or how it ended abnormally; may be empty."""
    actions: tuple[str, ...]
    """Actions, as read by the benchmark's vocabulary."""


def steps(entries: Iterable[Entry]) -> tuple[ModelStep, ...]:
    """Return a trial's calls to its model, in order."""
    found: list[ModelStep] = []
    asked: dict[str, RequestSeen] = {}
    page, felt, known = "", list[str](), frozenset[str]()
    actions: dict[str, list[str]] = {}
    exchanges: list[str] = []
    for entry in entries:
        match entry.event:
            case RequestSeen(top_level=True) as request:
                asked[request.exchange] = request
                page = f"{request.url} (no answer yet)"
            case ResponseSeen() as response if response.exchange in asked:
                page = f"{asked[response.exchange].url}: {describe_answer(response)}"
            case FaultDelivered() as fault:
                felt.append(fault.injection)
            case LlmCall() as call:
                whole = tuple(_messages(call.messages))
                found.append(_step(entry.seq, call, page, felt, whole, known))
                exchanges.append(call.exchange)
                known = frozenset(line for message in whole for line in message.lines)
                felt = []
            case AgentAction() as action:
                actions.setdefault(action.exchange, []).append(_action(action))
            case _:
                pass
    return tuple(
        replace(step, actions=tuple(actions.get(exchange, ())))
        for step, exchange in zip(found, exchanges, strict=True)
    )


def _step(
    seq: int,
    call: LlmCall,
    page: str,
    felt: Iterable[str],
    whole: tuple[NewMessage, ...],
    known: frozenset[str],
) -> ModelStep:
    fresh = (
        NewMessage(message.role, tuple(line for line in message.lines if line not in known))
        for message in whole
    )
    called = (_spoken(each).replace("\n", " ") for each in call.tool_calls)
    return ModelStep(
        seq=seq,
        number=call.step,
        t=call.began,
        model=call.model,
        page=page,
        faults=tuple(felt),
        prompt=tuple(message for message in fresh if message.lines),
        characters=sum(len(line) + 1 for message in whole for line in message.lines),
        answer="\n".join(filter(None, (call.answer, *called))),
        error=call.error or ABNORMAL_FINISH.get(call.finish or "", ""),
        actions=(),
    )


def describe_answer(response: ResponseSeen) -> str:
    """Return the status or the error of an answer, and who gave it if not the site."""
    status = response.error or "no answer" if response.status is None else str(response.status)
    return status if response.by == "site" else f"{status} by {response.by}"


def _action(action: AgentAction) -> str:
    given = action.arguments if isinstance(action.arguments, list) else [action.arguments]
    return f"{action.name}({', '.join(repr(each) for each in given if each is not None)})"


def _messages(messages: JsonValue) -> Iterator[NewMessage]:
    for message in messages if isinstance(messages, list) else [messages]:
        role = message.get("role") if isinstance(message, dict) else None
        lines = tuple(line.rstrip() for line in _spoken(message).splitlines())
        yield NewMessage(str(role or "prompt"), tuple(filter(None, lines)))


def _spoken(message: JsonValue) -> str:
    """Return the text of a message of any API; images are replaced by their names.

    All values of a tool's data are included, with their names: ``url: https://shop.example/``.
    """
    words: list[str] = []
    # Not recursive, since the depth is not limited.
    left: list[tuple[str, JsonValue, bool]] = [("text", message, False)]
    while left:
        key, value, data = left.pop()
        match value:
            case str() if value.startswith(_BLOB):
                words.append(f"[image {value.removeprefix(_BLOB)}]")
            case str() if key in _SPOKEN:
                words.append(value)
            case list():
                left += [(key, item, data) for item in reversed(value)]
            case dict():
                data = data or key in _DATA
                left += [(name, held, data) for name, held in reversed(value.items())]
            case str() | int() | float() if data:
                words.append(f"{key}: {value if isinstance(value, str) else json.dumps(value)}")
            case _:
                pass
    return "\n".join(words)
