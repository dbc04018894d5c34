"""Processor time of a streamed answer that a lane reads as a model's, to one that only passes.

Both are the same question and the same events on the same lane; only the paths differ.
"""

import time
from contextlib import ExitStack
from statistics import median

from bench import first_event
from bench.candidates import LOADED, lane
from bench.load import trusting, tunnel
from bench.processes import KNOWN, threads_seconds
from bench.programs import site
from bench.row import Row
from bench.setting import HOST, Setting
from bench.streams import ask, said
from bench.turns import there_and_back

_EVENTS = 400
_REST = 0.01
"""Seconds until the lane waits again, and the kernel has written down what it spent."""
_PATHS = {"tapped": first_event.PATH, "passed": "/v1/streamed"}


def measure(setting: Setting) -> list[Row]:
    """Ask for both streams by turns; compare what the lane's process spends on each.

    Reads ``/proc``, so Linux only: elsewhere there is no row.
    """
    if not KNOWN:
        return []
    rounds = 2 if setting.quick else 20
    spent: dict[str, list[float]] = {way: [] for way in _PATHS}
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.site", *setting.tls))
        authority = f"{HOST}:{port}"
        recorder = stack.enter_context(lane(setting, LOADED))
        connection = stack.enter_context(tunnel(recorder.port, port, trusting()))
        for order in there_and_back(list(_PATHS), 1 + rounds):
            for way in order:
                path = f"{_PATHS[way]}?events={_EVENTS}"
                before = threads_seconds(recorder.pid)
                ask(connection, authority, path)
                time.sleep(_REST)
                spent[way].append(threads_seconds(recorder.pid) - before)
                recorder.answered(f"https://{authority}{path}")
        recorder.called(said(_EVENTS), times=1 + rounds)
    tapped, passed = (spent[way][1:] for way in ("tapped", "passed"))
    return [
        Row(
            "tapped-stream",
            "processor time of a model's stream that a lane reads, to the same passed through",
            median(more / less for more, less in zip(tapped, passed, strict=True)),
            "times",
            1.15,
            at_least=False,
            detail=f"{_EVENTS} events, one by one: {median(tapped) * 1000:.1f} ms read, "
            f"{median(passed) * 1000:.1f} ms passed through",
        )
    ]
