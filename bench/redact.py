"""What it costs to keep secrets out of a trace, over the mix of events that a trial has."""

import time
from collections.abc import Callable, Iterator

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
_FILES = 22
"""Of those, a site's scripts and images: in every trial the same ones."""
_WORDS = ("order", "price", "basket", "size", "token", "key", "password", "sign", "in", "page")


_SECRET = "q7Rt2LmX9bVc4KpZ8wYn"
"""Stands in every request's cookie and in every URL of a search."""


def measure(setting: Setting) -> list[Row]:
    """Redact the events of trials of ten steps; take off what making their JSON costs anyway."""
    load()
    trials = 1 if setting.quick else 12
    # The same site again and again, as in a campaign, and then one of which nothing was met.
    met = [event for trial in range(trials + 1) for event in _trial(trial, again=True)]
    size = len(met) // (trials + 1)
    _seconds(redacted, met[:size])
    new = [event for trial in range(trials) for event in _trial(trial + 100, again=False)]
    return [
        _row("redact", "keeping secrets out, processor time an event", met[size:], 10),
        _row("redact-cold", "the same where no piece was met before", new, 30),
    ]


def _row(name: str, what: str, events: list[Event], target: float) -> Row:
    plain, before = _seconds(as_json, events)
    whole, after = _seconds(redacted, events)
    planted = sum(_SECRET in line for line in before)
    if len(after) != len(events) or any(_SECRET in line for line in after) or not planted:
        raise RuntimeError("not all events were made, or a secret stayed: nothing was measured")
    marked = sum("[redacted]" in line for line in after)
    if marked < planted:
        raise RuntimeError(f"{planted} events held a secret and only {marked} were redacted")
    calls = sum(isinstance(event, LlmCall) for event in events)
    return Row(
        name,
        what,
        (whole - plain) / len(events) * 1e6,
        "µs",
        target,
        at_least=False,
        detail=f"{len(events):,} events, {planted:,} with a secret, {calls} of them model calls of"
        f" up to 100 kB; making their JSON {plain / len(events) * 1e6:.1f} µs",
    )


def _seconds(do: Callable[[Event], str], events: list[Event]) -> tuple[float, list[str]]:
    began = time.process_time()
    lines = [do(event) for event in events]
    return time.process_time() - began, lines


def _trial(trial: int, *, again: bool) -> Iterator[Event]:
    messages: list[dict[str, object]] = []
    for step in range(10):
        for number in range(_EXCHANGES):
            known = again and number < _FILES
            yield from _exchange(f"{number}" if known else f"{trial}-{step}-{number}", trial)
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


def _exchange(number: str, trial: int) -> Iterator[Event]:
    digest = f"{int(draw(7, number) * 2**48):012x}"
    asked = f"{int(draw(7, number, trial) * 2**48):012x}"
    search = f"?q={digest}&token={_SECRET}" if number.endswith("-25") else f"?v={digest[:4]}"
    yield RequestSeen(
        exchange=f"x{number}",
        method="GET",
        url=f"https://shop.example/static/app.{digest}.js{search}",
        resource="script",
        http_version="HTTP/2.0",
        connection="c1",
        headers=[
            *ASKED,
            ("Cookie", f"id={trial}; session={_SECRET}"),
            ("If-None-Match", f'"{digest}"'),
        ],
        size=0,
    )
    yield ResponseSeen(
        exchange=f"x{number}",
        status=200,
        resource="script",
        by="site",
        http_version="HTTP/1.1",
        headers=[*ANSWERED, ("ETag", f'"{digest}"'), ("X-Request-Id", asked)],
        size=2000,
        timings=Timings(wait=0.001, receive=0.0002, total=0.0013),
    )
