"""Server-sent events: how much later the first one of a streamed model call arrives.

The call is recognised, its answer is tapped and traced: the most that WAREX does to a stream.
"""

from contextlib import ExitStack
from statistics import median

from bench.row import Row
from bench.traffic.load import trusting, tunnel
from bench.traffic.measured_lanes import LOADED, lane
from bench.traffic.programs import site
from bench.traffic.streams import SAID, ask
from bench.workspace import HOST, Setting

PATH = "/v1/chat/completions"


def measure(setting: Setting) -> list[Row]:
    """Ask directly and through a lane in turns, on kept connections."""
    with ExitStack() as stack:
        port = stack.enter_context(site("bench.traffic.site", *setting.tls))
        authority = f"{HOST}:{port}"
        recorder = stack.enter_context(lane(setting, LOADED))
        direct = stack.enter_context(tunnel(0, port, trusting()))
        through = stack.enter_context(tunnel(recorder.port, port, trusting()))
        times = [
            (ask(direct, authority, PATH), ask(through, authority, PATH))
            for _ in range(1 + (3 if setting.quick else 50))
        ]
        recorder.answered(f"https://{authority}{PATH}", times=len(times))
        recorder.called(SAID, times=len(times))
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
