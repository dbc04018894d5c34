"""Calls to the trial of a proxy."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import pytest

from warex.sandbox.stdio.trial import ProxyCaller, Trial, TrialGone

pytestmark = pytest.mark.wire


@contextmanager
def answering(
    status: int, body: bytes, *, closes: bool = False
) -> "Iterator[tuple[str, list[Any]]]":
    """A proxy that gives one answer to all; yield its URL, and what it was asked."""
    requests: list[Any] = []

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"]))
            requests.append((self.path, dict(self.headers), sent, self.client_address))
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = closes

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}", requests
        server.shutdown()


def test_a_call_is_a_request_through_the_proxy_that_names_the_task() -> None:
    with answering(200, json.dumps({"session": 3}).encode()) as (where, requests):
        trial = Trial(ProxyCaller(urlsplit(f"http://one:x@{where}"), "zwei & \u4e8c"))
        for _ in range(2):
            trial.begin("tools")
        trial.caller.close()

    (target, headers, body, client), (*_, same) = requests
    assert target == "http://warex.invalid/mcp/begin?"
    assert headers["X-Warex-Task"] == "zwei%20%26%20%E4%BA%8C"
    assert headers["Proxy-Authorization"] == "Basic b25lOng="
    assert json.loads(body) == {"name": "tools"}
    assert client == same  # One connection.


def test_a_connection_that_was_closed_while_it_was_idle_is_made_again() -> None:
    with answering(200, b'{"session": 1}', closes=True) as (where, requests):
        trial = Trial(ProxyCaller(urlsplit(f"http://{where}")))
        for _ in range(3):
            trial.begin("tools")
        trial.caller.close()
    assert len(requests) == 3


@pytest.mark.parametrize(
    ("status", "body", "why"),
    [
        (503, b'{"error": "the trial is void"}', "the trial is void"),
        (403, b"no episode of this name is running\n", "no episode of this name"),
        (502, b"<html>Bad gateway", "Bad gateway"),
        (200, b"[]", "does not answer as WAREX does"),
    ],
)
def test_an_invalid_answer_is_the_end_of_the_trial(status: int, body: bytes, why: str) -> None:
    with answering(status, body) as (where, requests):
        trial = Trial(ProxyCaller(urlsplit(f"http://{where}")))
        for _ in range(2):
            with pytest.raises(TrialGone, match=why):
                trial.begin("tools")
        trial.caller.close()
    assert len(requests) == 1  # It stays gone.


def test_a_proxy_that_does_not_exist_is_named() -> None:
    with answering(200, b"{}") as (where, _):
        pass
    with pytest.raises(TrialGone, match=where):
        Trial(ProxyCaller(urlsplit(f"http://user:secret@{where}"))).begin("tools")
