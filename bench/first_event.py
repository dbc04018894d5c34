"""Server-sent events: how much later the first one of a streamed model call arrives.

The call is recognised, its answer is tapped and traced: the most that WAREX does to a stream.
"""

import ssl
import time
from contextlib import ExitStack
from statistics import median

from bench.candidates import LOADED, lane
from bench.load import trusting, tunnel
from bench.programs import site
from bench.row import Row
from bench.setting import HOST, Setting
from bench.streams import QUESTION

PATH = "/v1/chat/completions"


def measure(setting: Setting) -> list[Row]:
    """Ask directly and through a lane in turns, on kept connections."""
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.site", *setting.tls))
        authority = f"{HOST}:{port}"
        recorder = stack.enter_context(lane(setting, LOADED))
        direct = stack.enter_context(tunnel(0, port, trusting()))
        through = stack.enter_context(tunnel(recorder.port, port, trusting()))
        times = [
            (_first_event(direct, authority), _first_event(through, authority))
            for _ in range(1 + (3 if setting.quick else 50))
        ]
        recorder.answered(f"https://{authority}{PATH}", times=len(times))
    del times[0]  # The first calls open connections.
    added = median(late - early for early, late in times)
    return [
        Row(
            "first-event",
            "server-sent events: added time to the first event",
            added * 1000,
            "ms",
            10,
            at_least=False,
            detail=f"direct {median(early for early, _ in times) * 1000:.2f} ms, "
            f"through a lane {median(late for _, late in times) * 1000:.2f} ms",
        )
    ]


def _first_event(connection: ssl.SSLSocket, authority: str) -> float:
    """Ask the model; return the seconds until the first event, having read to the end."""
    head = (
        f"POST {PATH} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer none\r\nContent-Length: {len(QUESTION)}\r\n\r\n"
    )
    began = time.perf_counter()
    connection.sendall(head.encode() + QUESTION)
    held, first = b"", 0.0
    while not held.endswith(b"0\r\n\r\n"):
        if not (more := connection.recv(65536)):
            raise ConnectionError(f"the stream ended early, after {held!r}")
        held += more
        if not first and b"data: " in held:
            first = time.perf_counter() - began
    if b"[DONE]" not in held:
        raise ConnectionError(f"this is no model's answer: {held[:200]!r}")
    return first
