"""An endpoint of OpenAI's chat completions with preset answers."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from tests.http_server import Handler, serving

CHOICE = {"choices": [{"message": {"role": "assistant", "content": "reload()"}}]}


class Endpoint(Handler):
    """Gives preset answers and records the requests."""

    answers: ClassVar[list[tuple[int, Any]]] = []
    asked: ClassVar[list[dict[str, Any]]] = []
    keys: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.read_body()))
        self.keys.append(self.headers["Authorization"])
        status, message = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.reply(json.dumps(message).encode(), "application/json", status)


@contextmanager
def endpoint() -> Iterator[str]:
    """Serve it; yield its base URL."""
    Endpoint.answers[:], Endpoint.asked[:], Endpoint.keys[:] = [(200, CHOICE)], [], []
    with serving(Endpoint) as port:
        yield f"http://127.0.0.1:{port}/v1"
