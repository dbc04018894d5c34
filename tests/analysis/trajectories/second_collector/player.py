"""The model server: plays a script's answers in the formats of three APIs."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

from tests.analysis.trajectories.second_collector.cases import (
    AGAIN,
    BLIND,
    Say,
    Script,
    Variant,
    Words,
)
from tests.http_server import Handler, serving


class Player:
    """One trial's model: what it says next depends on what it is shown."""

    def __init__(self, script: Script, variant: Variant) -> None:
        self._steps = list(script.steps)
        self._reactions = list(variant.reactions)
        self._give_up = script.give_up if variant.give_up is None else variant.give_up
        self._silent = variant.silent
        self._at = 0
        self._known: dict[str, str] = {}
        self.answers: list[str] = []
        """All answers, as text."""

    def answer(self, shown: str) -> Say | None:
        """Return the answer to an observation; None: no answer at all."""
        words = self._next(shown)
        if words is None:
            return None
        message = self._filled(Say(words) if isinstance(words, str) else words, shown)
        self.answers.append(
            message.text + "".join(f" {n} {json.dumps(a)}" for n, a in message.calls)
        )
        return message

    def _next(self, shown: str) -> Words | None:
        if self._at >= len(self._steps):
            return self._give_up
        see, say = self._steps[self._at]
        match = re.search(see, shown, re.DOTALL)
        if match:
            self._known |= {"%FOUND%": match[1]} if match.groups() else {}
            self._at += 1
            return say
        if not self._reactions:
            return None if self._silent else self._give_up
        words = self._reactions.pop(0)
        if words == AGAIN:
            return self._steps[max(0, self._at - 1)][1]
        if words == BLIND:
            self._at += 1
            return say
        return words

    def _filled(self, speech: Say, shown: str) -> Say:
        text = json.dumps([speech.text, speech.calls], ensure_ascii=False)
        for which, name in re.findall(r'"@(x|y|at):([^"]+)"', text):
            place = re.search(rf"\[{name}\] (\d+),(\d+)", shown)
            x, y = (place[1], place[2]) if place else ("500", "300")
            value = {"x": x, "y": y, "at": f"[{x}, {y}]"}[which]
            text = text.replace(f'"@{which}:{name}"', value)
        for name in re.findall(r"@place:([\w-]+)", text):
            place = re.search(rf"\[{name}\] (\d+,\d+)", shown)
            text = text.replace(f"@place:{name}", place[1] if place else "500,300")
        for name, value in self._known.items():
            text = text.replace(name, json.dumps(value, ensure_ascii=False)[1:-1])
        words, calls = json.loads(text)
        return Say(words, tuple((name, arguments) for name, arguments in calls))


def _shown(asked: Any, seen: str | None) -> str:
    """Return what the model is shown since its last answer."""
    if seen is not None:
        return unquote(seen)
    items = asked.get("messages") or asked.get("input")
    last: list[str] = []
    for item in reversed(items):
        if item.get("role") == "assistant" or ("call_id" in item and "output" not in item):
            break
        last.insert(0, json.dumps(item.get("content") or item.get("output"), ensure_ascii=False))
    return "\n".join(last).replace("\\n", "\n")


def _chat(speech: Say, number: int) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": speech.text}
    if speech.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{at}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)},
            }
            for at, (name, arguments) in enumerate(speech.calls)
        ]
    finish = "tool_calls" if speech.calls else "stop"
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": "m-large",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 40, "total_tokens": 240},
    }


def _anthropic(speech: Say, number: int) -> Any:
    content: list[dict[str, Any]] = [{"type": "text", "text": speech.text}] if speech.text else []
    content += [
        {"type": "tool_use", "id": f"toolu_{number}_{at}", "name": name, "input": arguments}
        for at, (name, arguments) in enumerate(speech.calls)
    ]
    return {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": "m-large",
        "content": content,
        "stop_reason": "tool_use" if speech.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 200, "output_tokens": 40},
    }


def _responses(speech: Say, number: int) -> Any:
    output: list[dict[str, Any]] = []
    if speech.text:
        text = {"type": "output_text", "text": speech.text, "annotations": []}
        output.append(
            {
                **{"type": "message", "id": f"msg_{number}", "role": "assistant"},
                **{"status": "completed", "content": [text]},
            }
        )
    for at, (name, arguments) in enumerate(speech.calls):
        identity = {"id": f"fc_{number}_{at}", "call_id": f"call_{number}_{at}"}
        if name == "computer":
            more: dict[str, Any] = {"action": arguments, "pending_safety_checks": []}
            kind = "computer_call"
        else:
            more = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            kind = "function_call"
        output.append({"type": kind, "status": "completed", **identity, **more})
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m-large",
        "output": output,
        "usage": {"input_tokens": 200, "output_tokens": 40, "total_tokens": 240},
    }


_FORMS = {"completions": _chat, "messages": _anthropic, "responses": _responses}


@contextmanager
def serve(player: Player) -> Iterator[int]:
    """Serve a trial's model; yield the port."""

    class Endpoint(Handler):
        def do_POST(self) -> None:
            asked = json.loads(self.read_body())
            answer = player.answer(_shown(asked, self.headers.get("X-Screen")))
            if answer is None:
                self.close_connection = True
                return
            form = _FORMS[self.path.rsplit("/", 1)[1]]
            body = json.dumps(form(answer, len(player.answers)), ensure_ascii=False).encode()
            self.reply(body, "application/json")

    with serving(Endpoint) as port:
        yield port
