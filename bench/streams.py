"""A model's streamed answer, as the site sends it and the client asks for it."""

import json

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


EVENT = _event("click('12')")
LAST_EVENTS = _event(" # the button") + b"data: [DONE]\n\n"

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
