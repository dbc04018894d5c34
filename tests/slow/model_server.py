"""A scripted model on loopback with Anthropic's and Gemini's APIs, which logs its answers.

It uses no code of WAREX, whose records are compared with its log. Formats:
https://docs.anthropic.com/en/api/messages and https://ai.google.dev/api/generate-content.
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

    found: str
    says: Any
    """A text, or the arguments of the request's only tool or schema; ``$name`` is a group of the
    pattern."""

    def answer(self, words: str) -> Any:
        """Return the answer, filled in from the pattern's last match; None without a match."""
        found = list(re.finditer(self.found, words))
        if not found:
            return None
        said = Template(json.dumps(self.says)).safe_substitute(found[-1].groupdict())
        return json.loads(said)


@dataclass(frozen=True, slots=True)
class Served:
    """One call and its answer."""

    path: str
    model: str
    body: dict[str, Any]
    said: Any
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
            return self._as_gemini(path, body, n)

    def _said(self, system: Any, messages: Sequence[Any]) -> Any:
        words = _texts([system, *messages])
        answers = (line.answer(words) for line in self.script)
        return next((said for said in answers if said is not None), "I do not know this page.")

    def _as_claude(self, path: str, body: dict[str, Any], n: int) -> dict[str, Any]:
        said = self._said(body.get("system"), body["messages"])
        tools = [body.get("tool_choice") or {}, *(body.get("tools") or ())]
        tool = next((each["name"] for each in tools if "name" in each), None)
        block: dict[str, Any] = {"type": "text", "text": said}
        if tool and not isinstance(said, str):
            block = {"type": "tool_use", "id": f"toolu_{n}", "name": tool, "input": said}
        call = Served(path, body["model"], body, said, 1000 + n, 50 * n, 300 + n, 40 + n, 0)
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

    def _as_gemini(self, path: str, body: dict[str, Any], n: int) -> dict[str, Any]:
        said = self._said(body.get("systemInstruction"), body["contents"])
        model = path.partition("/models/")[2].partition(":")[0]
        part: dict[str, Any] = {"text": said if isinstance(said, str) else json.dumps(said)}
        if (tools := body.get("tools")) and not isinstance(said, str):
            name = tools[0]["functionDeclarations"][0]["name"]
            part = {"functionCall": {"name": name, "args": said}}
        call = Served(path, model, body, said, 900 + n, 60 * n, 0, 30 + n, 20 + n)
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
            kept = (value.get(key) for key in ("text", "content", "parts"))
            return "\n".join(_texts(each) for each in kept if each is not None)
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
