"""The delay that a lane adds to the first server-sent event of a streamed model call.

The call is recognised, its answer is tapped and traced: the most that WAREX does with a stream.
"""

from contextlib import ExitStack
from statistics import median

from bench.row import Row
from bench.traffic.load import tunnel, unverified_context
from bench.traffic.measured_lanes import LOADED, lane
from bench.traffic.programs import site
from bench.traffic.streams import ANSWER_TEXT, CHAT, ask
from bench.workspace import HOST, Workspace

PATH = CHAT


def measure(workspace: Workspace) -> list[Row]:
    """Send calls in turns, directly and through a lane, on kept connections."""
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.traffic.site", *workspace.tls))
        authority = f"{HOST}:{port}"
        recorder = stack.enter_context(lane(workspace, LOADED))
        direct = stack.enter_context(tunnel(0, port, unverified_context()))
        through = stack.enter_context(tunnel(recorder.port, port, unverified_context()))
        times = [
            (ask(direct, authority, PATH), ask(through, authority, PATH))
            for _ in range(1 + (3 if workspace.quick else 50))
        ]
        recorder.count_requests(f"https://{authority}{PATH}", times=len(times))
        recorder.count_calls(ANSWER_TEXT, times=len(times))
    del times[0]  # The first calls open connections.
    added = median(late - early for early, late in times)
    return [
        Row(
            "first-event",
            "server-sent events: added time to the first event",
            added * 1000,
            "ms",
            3,
            at_least=False,
            detail=f"direct {median(early for early, _ in times) * 1000:.2f} ms, "
            f"through a lane {median(late for _, late in times) * 1000:.2f} ms",
        )
    ]
