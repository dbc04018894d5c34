import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from warex.agents.reference.endpoint import Endpoint, ModelError

QUESTION = [{"role": "user", "content": "What now?"}]


@contextmanager
def serving(status: int, body: bytes) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.send_header("retry-after", "0")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            thread.join()


async def ask(base_url: str) -> str:
    endpoint = Endpoint("some-model", base_url, {})
    try:
        return await endpoint.ask(QUESTION)
    finally:
        await endpoint.close()


@pytest.mark.wire
async def test_a_completion_is_read() -> None:
    with serving(200, b'{"choices": [{"message": {"content": "noop()"}}]}') as base_url:
        assert await ask(base_url) == "noop()"


@pytest.mark.wire
@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, b'{"error": {"message": "no such key"}}', "answered 401"),
        (200, b"<html>a page</html>", "did not answer a completion"),
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
        Endpoint("some-model", None, {})
