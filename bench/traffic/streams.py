"""A model's streamed answer, as the site sends it and the client asks for it."""

import json
import ssl
import time

BETWEEN_EVENTS = 0.05
"""Seconds. A proxy that holds the stream back until its end is late by as much."""


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
EVENT = _event(FIRST)
LAST_EVENTS = _event(LAST) + b"data: [DONE]\n\n"

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
"""An agent's call with a page in it: 8 kB."""


SAID = FIRST + LAST
"""What the model says."""


def ask(connection: ssl.SSLSocket, authority: str, path: str) -> float:
    """Ask the model; return the seconds until the first event, having read to the end.

    Raises ConnectionError where what came is not a model's answer.
    """
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer none\r\nContent-Length: {len(QUESTION)}\r\n\r\n"
    )
    began = time.perf_counter()
    connection.sendall(head.encode() + QUESTION)
    held, first = bytearray(), 0.0
    while not held.endswith(b"0\r\n\r\n"):
        if not (more := connection.recv(65536)):
            raise ConnectionError(f"the stream ended early, after {bytes(held[-200:])!r}")
        held += more
        if not first and b"data: " in held:
            first = time.perf_counter() - began
    if b"[DONE]" not in held:
        raise ConnectionError(f"this is no model's answer: {bytes(held[:200])!r}")
    return first
