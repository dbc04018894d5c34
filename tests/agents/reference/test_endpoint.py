import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from warex.agents.reference.endpoint import ModelClient, ModelError

QUESTION = [{"role": "user", "content": "What now?"}]


ANSWER = b'{"choices": [{"message": {"content": "noop()"}}]}'


@contextmanager
def serving(status: int, body: bytes, *first: int, asked: list[Any] | None = None) -> Iterator[str]:
    """Serve a status and a body, other statuses first; ``asked`` takes in the requests."""
    before = list(first)
    seen = [] if asked is None else asked

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            read = self.rfile.read(int(self.headers["content-length"]))
            seen.append((self.path, dict(self.headers), json.loads(read)))
            self.send_response(before.pop(0) if before else status)
            self.send_header("location", "/elsewhere")
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.send_header("retry-after", "0")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


async def ask(base_url: str) -> str:
    endpoint = ModelClient("some-model", base_url, {})
    try:
        return await endpoint.ask(QUESTION)
    finally:
        await endpoint.close()


@pytest.mark.wire
async def test_a_completion_is_read() -> None:
    asked: list[Any] = []
    with serving(200, ANSWER, asked=asked) as base_url:
        assert await ask(base_url) == "noop()"
    ((path, headers, body),) = asked
    assert path == "/v1/chat/completions"
    assert headers["Content-Type"] == "application/json"
    assert headers["Authorization"] == "Bearer none"
    assert body == {"model": "some-model", "messages": QUESTION}


@pytest.mark.wire
@pytest.mark.parametrize("status", [408, 429, 500, 503])
async def test_transient_errors_are_retried_twice(status: int) -> None:
    with serving(200, ANSWER, status, status) as base_url:
        assert await ask(base_url) == "noop()"
    with (
        serving(200, ANSWER, status, status, status) as base_url,
        pytest.raises(ModelError, match=f"answered {status}"),
    ):
        await ask(base_url)


@pytest.mark.wire
@pytest.mark.parametrize("status", [400, 401, 404, 302])
async def test_permanent_errors_are_not_retried(status: int) -> None:
    asked: list[Any] = []
    with (
        serving(200, ANSWER, status, asked=asked) as base_url,
        pytest.raises(ModelError, match=f"answered {status}"),
    ):
        await ask(base_url)
    assert len(asked) == 1


@pytest.mark.wire
async def test_a_server_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warex.agents.reference.endpoint._FIRST_PAUSE", 0.0)
    with serving(200, ANSWER) as base_url:
        pass
    with pytest.raises(ModelError, match=f"{base_url}/ cannot be reached: .*refused"):
        await ask(base_url)


@pytest.mark.wire
@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, b'{"error": {"message": "no such key"}}', "answered 401"),
        (200, b"<html>a page</html>", "did not answer a completion"),
        (200, b'{"choices": [7]}', "did not answer a completion"),
        (200, b"[]", "did not answer a completion"),
        (200, b'{"choices": []}', "did not answer a completion"),
        (200, b'{"choices": [{"message": {"content": 7}}]}', "did not answer a completion"),
    ],
)
async def test_an_endpoint_that_cannot_be_used_is_one_sentence_with_its_address(
    status: int, body: bytes, words: str
) -> None:
    with serving(status, body) as base_url:
        with pytest.raises(ModelError, match=words) as error:
            await ask(base_url)
        assert base_url in str(error.value)
    assert "\n" not in str(error.value)


def test_without_a_key_a_server_must_be_named() -> None:
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set"):
        ModelClient("some-model", None, {})
