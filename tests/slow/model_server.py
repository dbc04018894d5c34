"""A scripted model on loopback with the APIs of Anthropic, Gemini and OpenAI; it logs its answers.

It uses no code of WAREX, whose records are compared with its log. Formats:
https://docs.anthropic.com/en/api/messages, https://ai.google.dev/api/generate-content and
https://platform.openai.com/docs/api-reference (Chat Completions, Responses).
"""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from string import Template
from typing import Any


@dataclass(frozen=True, slots=True)
class Line:
    """An answer to the requests whose text contains a pattern."""

    pattern: str
    says: Any
    """A text, or the arguments of the request's only tool or schema; ``$name`` is a group of the
    pattern. Over OpenAI's APIs ``{"tool": name, "arguments": {…}}`` calls one of several tools."""
    in_last: bool = False
    """Whether the pattern is looked for in the last message alone."""

    def answer(self, words: str) -> Any:
        """Return the answer, filled in from the pattern's last match; None without a match."""
        matches = list(re.finditer(self.pattern, words))
        if not matches:
            return None
        message = Template(json.dumps(self.says)).safe_substitute(matches[-1].groupdict())
        return json.loads(message)


@dataclass(frozen=True, slots=True)
class Served:
    """One call and its answer."""

    path: str
    model: str
    body: dict[str, Any]
    content: Any
    input_plain: int
    cache_read: int
    cache_write: int
    output: int
    """Output tokens without thinking."""
    thought: int

    @property
    def input_total(self) -> int:
        """All input tokens, cached or not."""
        return self.input_plain + self.cache_read + self.cache_write

    @property
    def output_total(self) -> int:
        """All output tokens."""
        return self.output + self.thought


class ModelServer(ThreadingHTTPServer):
    """Answers by the first line of its script that matches; no two calls cost the same."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, script: Sequence[Line]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script
        self.served: list[Served] = []
        self._lock = threading.Lock()

    @property
    def origin(self) -> str:
        """Its origin."""
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a call and log it."""
        with self._lock:
            n = len(self.served) + 1
            if path.endswith("/messages"):
                return self._as_claude(path, body, n)
            if path.endswith(("/chat/completions", "/responses")):
                return self._as_openai(path, body, n)
            return self._as_gemini(path, body, n)

    def _answer_to(self, system: Any, messages: Sequence[Any]) -> Any:
        words, last = _texts([system, *messages]), _texts(messages[-1:])
        answers = (line.answer(last if line.in_last else words) for line in self.script)
        return next(
            (message for message in answers if message is not None), "I do not know this page."
        )

    def _as_claude(self, path: str, body: dict[str, Any], n: int) -> dict[str, Any]:
        message = self._answer_to(body.get("system"), body["messages"])
        tools = [body.get("tool_choice") or {}, *(body.get("tools") or ())]
        tool = next((each["name"] for each in tools if "name" in each), None)
        block: dict[str, Any] = {"type": "text", "text": message}
        if tool and not isinstance(message, str):
            block = {"type": "tool_use", "id": f"toolu_{n}", "name": tool, "input": message}
        call = Served(path, body["model"], body, message, 1000 + n, 50 * n, 300 + n, 40 + n, 0)
        self.served.append(call)
        return {
            "id": f"msg_{n}",
            "type": "message",
            "role": "assistant",
            "model": call.model,
            "content": [block],
            "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": call.input_plain,
                "cache_read_input_tokens": call.cache_read,
                "cache_creation_input_tokens": call.cache_write,
                "output_tokens": call.output,
            },
        }

    def _as_openai(self, path: str, body: dict[str, Any], n: int) -> dict[str, Any]:
        is_chat = path.endswith("/chat/completions")
        text = self._answer_to(None, body["messages" if is_chat else "input"])
        call = Served(path, body["model"], body, text, 1000 + n, 0, 0, 40 + n, 0)
        self.served.append(call)
        tool = None if isinstance(text, str) else text["tool"]
        inputs = None if isinstance(text, str) else json.dumps(text["arguments"])
        if is_chat:
            function = {"name": tool, "arguments": inputs}
            calls = [{"id": f"call_{n}", "type": "function", "function": function}]
            message = {"role": "assistant", "content": None if tool else text}
            return {
                "id": f"chatcmpl-{n}",
                "object": "chat.completion",
                "created": 1,
                "model": call.model,
                "choices": [
                    {
                        "index": 0,
                        "message": message | ({"tool_calls": calls} if tool else {}),
                        "finish_reason": "tool_calls" if tool else "stop",
                    }
                ],
                "usage": {
                    "prompt_tokens": call.input_total,
                    "completion_tokens": call.output,
                    "total_tokens": call.input_total + call.output,
                },
            }
        item: dict[str, Any] = {"id": f"item_{n}", "status": "completed"}
        if tool:
            item |= {"type": "function_call", "call_id": f"call_{n}"}
            item |= {"name": tool, "arguments": inputs}
        else:
            part = {"type": "output_text", "text": text, "annotations": []}
            item |= {"type": "message", "role": "assistant", "content": [part]}
        return {
            "id": f"resp_{n}",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": call.model,
            "output": [item],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": call.input_total,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": call.output,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": call.input_total + call.output,
            },
        }

    def _as_gemini(self, path: str, body: dict[str, Any], n: int) -> dict[str, Any]:
        message = self._answer_to(body.get("systemInstruction"), body["contents"])
        model = path.partition("/models/")[2].partition(":")[0]
        part: dict[str, Any] = {
            "text": message if isinstance(message, str) else json.dumps(message)
        }
        if (tools := body.get("tools")) and not isinstance(message, str):
            name = tools[0]["functionDeclarations"][0]["name"]
            part = {"functionCall": {"name": name, "args": message}}
        call = Served(path, model, body, message, 900 + n, 60 * n, 0, 30 + n, 20 + n)
        self.served.append(call)
        content = {"role": "model", "parts": [part]}
        return {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": call.input_total,
                "cachedContentTokenCount": call.cache_read,
                "candidatesTokenCount": call.output,
                "thoughtsTokenCount": call.thought,
                "totalTokenCount": call.input_total + call.output_total,
            },
            "modelVersion": model,
            "responseId": f"gemini-{n}",
        }


def _texts(value: Any) -> str:
    """Return every ``text`` in a request's messages, and every plain string."""
    match value:
        case str():
            return value
        case list():
            return "\n".join(map(_texts, value))
        case dict():
            retained = (value.get(key) for key in ("text", "content", "parts", "output"))
            return "\n".join(_texts(each) for each in retained if each is not None)
        case _:
            return ""


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps(self.server.answer(self.path.partition("?")[0], body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def model_server(*script: Line) -> Iterator[ModelServer]:
    """Serve a model with this script."""
    with ModelServer(script) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
