"""A streamed model call: the client's request and the site's events."""

import json
import ssl
import time

BETWEEN_EVENTS = 0.05
"""Seconds. A proxy that buffers the whole stream delays the first event by as much."""


def _event(content: str) -> bytes:
    chunk = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "bench",
        "choices": [{"index": 0, "delta": {"content": content}, "finish_reason": None}],
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


FIRST, LAST = "click('12')", " # the button"
ANSWER_TEXT = FIRST + LAST
_DONE = b"data: [DONE]\n\n"
CHAT = "/v1/chat/completions"
SIXTY_EVENTS = f"{CHAT}?events=60"
_WORDS = [f"word{number} " for number in range(59)]
SIXTY_TEXT = "".join([*_WORDS, LAST])


def events(path: str) -> tuple[float, list[bytes]]:
    """Return the seconds between the events of a path, and the events."""
    if path == SIXTY_EVENTS:
        return 0.001, [*map(_event, _WORDS), _event(LAST) + _DONE]
    return BETWEEN_EVENTS, [_event(FIRST), _event(LAST) + _DONE]


QUESTION = json.dumps(
    {
        "model": "bench",
        "stream": True,
        "messages": [
            {"role": "system", "content": "You are a web agent."},
            {"role": "user", "content": "Book a table. " + "[12] button 'Book' " * 400},
        ],
    }
).encode()
"""An agent's model call that contains a page: 8 kB."""


def ask(connection: ssl.SSLSocket, authority: str, path: str) -> float:
    """Send the call, read the whole answer; return the seconds until its first event.

    Raises ConnectionError if the answer is not the model's.
    """
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer none\r\nContent-Length: {len(QUESTION)}\r\n\r\n"
    )
    began = time.perf_counter()
    connection.sendall(head.encode() + QUESTION)
    received, first = bytearray(), 0.0
    while not received.endswith(b"0\r\n\r\n"):
        if not (more := connection.recv(65536)):
            raise ConnectionError(f"the stream ended early, after {bytes(received[-200:])!r}")
        received += more
        if not first and b"data: " in received:
            first = time.perf_counter() - began
    if b"[DONE]" not in received:
        raise ConnectionError(f"this is not a model's answer: {bytes(received[:200])!r}")
    return first
