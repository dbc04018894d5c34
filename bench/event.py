"""What it costs to write one event of a trace."""

import time
from statistics import median

from bench.row import Row
from bench.setting import Setting
from warex.clock import Clock
from warex.traces import RequestSeen, ResponseSeen, Timings, TraceWriter

ASKED = [
    ("Host", "shop.example"),
    ("sec-ch-ua", '"Chromium";v="140", "Not=A?Brand";v="24"'),
    ("sec-ch-ua-mobile", "?0"),
    ("sec-ch-ua-platform", '"Linux"'),
    ("User-Agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0.0.0"),
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"),
    ("Sec-Fetch-Site", "same-origin"),
    ("Sec-Fetch-Mode", "navigate"),
    ("Sec-Fetch-Dest", "document"),
    ("Referer", "https://shop.example/list"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ("Accept-Language", "en-US,en;q=0.9"),
]
ANSWERED = [
    ("Content-Type", "text/html; charset=utf-8"),
    ("Content-Length", "2000"),
    ("Cache-Control", "no-store"),
    ("Server", "nginx"),
]


def measure(setting: Setting) -> list[Row]:
    """Write requests and answers by turns: making the event, redacting, the system call."""
    times: list[int] = []
    with TraceWriter(setting.fresh("trace") / "events.jsonl", Clock()) as writer:
        for number in range(200 if setting.quick else 10_000):
            began = time.perf_counter_ns()
            writer.write(event(number))
            times.append(time.perf_counter_ns() - began)
    return [
        Row(
            "event",
            "writing one event",
            median(times) / 1000,
            "µs",
            50,
            at_least=False,
            detail=f"{len(times):,} events; 99 % within "
            f"{sorted(times)[int(len(times) * 0.99)] / 1000:.0f} µs",
        )
    ]


def event(number: int) -> RequestSeen | ResponseSeen:
    """Return a request or its answer, by turns, with a browser's headers."""
    return _response(number // 2) if number % 2 else _request(number // 2)


def _request(number: int) -> RequestSeen:
    return RequestSeen(
        exchange=f"x{number}",
        method="GET",
        url=f"https://shop.example/item?id={number}",
        resource="document",
        top_level=True,
        http_version="HTTP/2.0",
        connection="c1",
        headers=ASKED,
        size=0,
    )


def _response(number: int) -> ResponseSeen:
    return ResponseSeen(
        exchange=f"x{number}",
        status=200,
        resource="document",
        by="site",
        http_version="HTTP/1.1",
        headers=ANSWERED,
        size=2000,
        timings=Timings(wait=0.001, receive=0.0002, total=0.0013),
    )
