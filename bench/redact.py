"""What it costs to keep secrets out of a trace, over the mix of events that a trial has."""

import time
from collections.abc import Iterator

import msgspec

from bench.event import ANSWERED, ASKED
from bench.row import Row
from bench.setting import Setting
from warex.seeds import draw
from warex.traces import Event, LlmCall, RequestSeen, ResponseSeen, Timings
from warex.traces.secret_texts import load
from warex.traces.writer import as_json, redacted

_EXCHANGES = 30
"""Pages, scripts and images for each call of the model."""
_WORDS = ("order", "price", "basket", "size", "token", "key", "password", "sign", "in", "page")


def measure(setting: Setting) -> list[Row]:
    """Redact the events of trials of ten steps; take off what making their JSON costs anyway."""
    load()
    trials = 1 if setting.quick else 12
    events = [event for trial in range(trials) for event in _trial(trial)]
    plain = _seconds(as_json, events)
    whole = _seconds(redacted, events)
    calls = sum(isinstance(event, LlmCall) for event in events)
    return [
        Row(
            "redact",
            "keeping secrets out, processor time an event",
            (whole - plain) / len(events) * 1e6,
            "µs",
            10,
            at_least=False,
            detail=f"{len(events):,} events, {calls} of them model calls of up to 80 kB, none of"
            f" whose texts was met before; making their JSON {plain / len(events) * 1e6:.1f} µs",
        )
    ]


def _seconds(do: object, events: list[Event]) -> float:
    assert callable(do)
    began = time.process_time()
    for event in events:
        do(event)
    return time.process_time() - began


def _trial(trial: int) -> Iterator[Event]:
    messages: list[dict[str, object]] = []
    for step in range(10):
        for number in range(_EXCHANGES):
            yield from _exchange(f"{trial}-{step}-{number}")
        page = _text(f"{trial}-{step}", 1300)
        messages.append({"role": "user", "content": page})
        yield msgspec.convert(
            {
                "exchange": f"x{step}",
                "family": "openai",
                "url": "https://api.openai.com/v1/chat/completions",
                "model": "gpt-4o",
                "step": step,
                "began": 1.0,
                "messages": list(messages),
                "stream": False,
                "status": 200,
                "answer": "click(12)",
                "input_tokens": 5000,
                "output_tokens": 10,
                "usage": "reported",
                "latency_s": 1.0,
                "first_token_s": 0.9,
                "complete": True,
            },
            LlmCall,
        )


def _text(about: str, words: int) -> str:
    """Return a page as agents see it: words, numbered elements, some fields and links."""
    pieces = []
    for number in range(words):
        word = _WORDS[int(draw(7, about, number) * len(_WORDS))]
        if number % 40 == 0:
            pieces.append(f'[{number}] <input name="field{number}" value="{word}">')
        elif number % 55 == 0:
            pieces.append(f"https://shop.example/item/{number}?page={number}&sort={word}")
        else:
            pieces.append(word)
    return " ".join(pieces)


def _exchange(number: str) -> Iterator[Event]:
    digest = f"{int(draw(7, number) * 2**48):012x}"
    yield RequestSeen(
        exchange=f"x{number}",
        method="GET",
        url=f"https://shop.example/static/app.{digest}.js?v={number}",
        resource="script",
        http_version="HTTP/2.0",
        connection="c1",
        headers=[*ASKED, ("Cookie", f"id={digest}"), ("If-None-Match", f'"{digest}"')],
        size=0,
    )
    yield ResponseSeen(
        exchange=f"x{number}",
        status=200,
        resource="script",
        by="site",
        http_version="HTTP/1.1",
        headers=[*ANSWERED, ("ETag", f'"{digest}"'), ("X-Request-Id", digest)],
        size=2000,
        timings=Timings(wait=0.001, receive=0.0002, total=0.0013),
    )
