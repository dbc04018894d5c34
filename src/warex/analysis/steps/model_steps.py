"""The steps of the model: page, prompt and answer."""

import json
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace

from pydantic import JsonValue

from warex.llm.actions.guess import guess_actions, recorded_calls
from warex.llm.base import ABNORMAL_FINISH
from warex.traces.events import (
    AgentAction,
    Entry,
    FaultDelivered,
    LlmCall,
    RequestSeen,
    ResponseSeen,
)

_TEXT_KEYS = frozenset(
    ("text", "content", "output", "input", "arguments", "name", "thinking", "result", "response")
)
"""Keys of the APIs that hold text of people and tools."""
_DATA = frozenset(("action", "actions", "args", "arguments", "input", "json", "response"))
"""Keys of some APIs that hold an object: the arguments or the result of a tool."""
_BLOB = "blob:"


@dataclass(frozen=True, slots=True)
class NewMessage:
    """The lines of one message of a prompt, or the new ones."""

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
    request: str
    """Of an agent that opens no page in a browser: its last request before, and its result."""
    faults: tuple[str, ...]
    """Injections delivered since the previous call."""
    prompt: tuple[NewMessage, ...]
    """The new messages of the prompt."""
    characters: int
    """Of the whole prompt."""
    answer: str
    error: str
    """Why there is no usable answer, or how it ended abnormally; may be empty."""
    is_answered: bool
    """Whether there is a complete answer, which may hold actions."""
    actions: tuple[str, ...]
    """Actions, read by the agent's vocabulary or else by their names."""


def steps(entries: Iterable[Entry]) -> tuple[ModelStep, ...]:
    """Return a trial's calls to its model, in order."""
    entries = list(entries)
    to_model = {entry.event.carrier for entry in entries if isinstance(entry.event, LlmCall)}
    in_browser = any(isinstance(e.event, RequestSeen) and e.event.top_level for e in entries)
    steps: list[ModelStep] = []
    asked: dict[str, RequestSeen] = {}
    last, felt, known = "", list[str](), frozenset[str]()
    actions: dict[str, list[str]] = {}
    exchanges: list[str] = []
    for entry in entries:
        match entry.event:
            case RequestSeen() as request if _is_shown(request, to_model, in_browser):
                asked[request.exchange] = request
                last = f"{_shown_request(request)} (no answer yet)"
            case ResponseSeen() as response if response.exchange in asked:
                last = f"{_shown_request(asked[response.exchange])}: {describe_answer(response)}"
            case FaultDelivered() as fault:
                felt.append(fault.injection)
            case LlmCall() as call:
                prompt = tuple(prompt_messages(call.messages))
                place = (last, "") if in_browser else ("", last)
                steps.append(_step(entry.seq, call, place, felt, prompt, known))
                exchanges.append(call.exchange)
                known = frozenset(line for message in prompt for line in message.lines)
                felt = []
            case AgentAction() as action:
                actions.setdefault(action.exchange, []).append(_action(action))
            case _:
                pass
    return tuple(
        replace(step, actions=tuple(actions.get(exchange, step.actions)))
        for step, exchange in zip(steps, exchanges, strict=True)
    )


def _is_shown(request: RequestSeen, to_model: Container[str], in_browser: bool) -> bool:
    """Whether a request says where the agent is: a page, or any but the model's without pages."""
    return request.top_level if in_browser else request.exchange not in to_model


def _shown_request(request: RequestSeen) -> str:
    return request.url if request.top_level else f"{request.method} {request.url}"


def _step(
    seq: int,
    call: LlmCall,
    place: tuple[str, str],
    felt: Iterable[str],
    prompt: tuple[NewMessage, ...],
    known: frozenset[str],
) -> ModelStep:
    fresh = (
        NewMessage(message.role, tuple(line for line in message.lines if line not in known))
        for message in prompt
    )
    called = (_text_of(each).replace("\n", " ") for each in call.tool_calls)
    return ModelStep(
        seq=seq,
        number=call.step,
        t=call.began,
        model=call.model,
        page=place[0],
        request=place[1],
        faults=tuple(felt),
        prompt=tuple(message for message in fresh if message.lines),
        characters=sum(len(line) + 1 for message in prompt for line in message.lines),
        answer="\n".join(filter(None, (call.answer, *called))),
        error=call.error or ABNORMAL_FINISH.get(call.finish or "", ""),
        is_answered=call.complete and call.error is None,
        actions=tuple(_guessed(call)),
    )


def describe_answer(response: ResponseSeen) -> str:
    """Return the status or the error of an answer, and who gave it if not the site."""
    status = response.error or "no answer" if response.status is None else str(response.status)
    by = "nobody" if response.by == "none" else response.by
    return status if by == "site" else f"{status} by {by}"


def _action(action: AgentAction) -> str:
    return _called(action.name, action.arguments)


def _guessed(call: LlmCall) -> Iterator[str]:
    if not call.complete or call.error is not None:
        return
    for action in guess_actions(call.answer, recorded_calls(call.tool_calls)):
        arguments = action.arguments
        yield _called(
            action.name, list(arguments) if isinstance(arguments, tuple) else dict(arguments)
        )


def _called(name: str, arguments: JsonValue) -> str:
    values = arguments if isinstance(arguments, list) else [arguments] if arguments else []
    return f"{name}({', '.join(repr(each) for each in values if each is not None)})"


def prompt_messages(messages: JsonValue) -> Iterator[NewMessage]:
    """Yield the messages of a prompt of any API, in order, with their lines that are not empty."""
    for message in messages if isinstance(messages, list) else [messages]:
        role = message.get("role") if isinstance(message, dict) else None
        lines = tuple(line.rstrip() for line in _text_of(message).splitlines())
        yield NewMessage(str(role or "prompt"), tuple(filter(None, lines)))


def _text_of(message: JsonValue) -> str:
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
            case str() if key in _TEXT_KEYS:
                words.append(value)
            case list():
                left += [(key, item, data) for item in reversed(value)]
            case dict():
                data = data or key in _DATA
                left += [(name, child, data) for name, child in reversed(value.items())]
            case str() | int() | float() if data:
                words.append(f"{key}: {value if isinstance(value, str) else json.dumps(value)}")
            case _:
                pass
    return "\n".join(words)
