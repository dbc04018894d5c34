"""Read a trial's trace: requests, injections, and calls of the agent's model.

    python examples/read_a_trace.py TRIAL

TRIAL is the folder of an attempt, or the ``--out`` of `warex proxy`.
"""

import sys
from collections import Counter
from pathlib import Path

from warex.traces import FaultDelivered, FaultPlanned, LlmCall, RequestSeen, read_trace


def main(folder: Path) -> None:
    """Print a summary of the trace."""
    trace = read_trace(folder / "events.jsonl")
    asked = Counter(event.resource for event in trace.events(RequestSeen))
    print("requests: ", ", ".join(f"{count} {kind}" for kind, count in asked.most_common()))
    arrived = {event.injection for event in trace.events(FaultDelivered)}
    for planned in trace.events(FaultPlanned):
        fate = "delivered" if planned.injection in arrived else "missed"
        print(f"injection: {planned.fault['kind']} into {planned.url}: {fate}")
    calls = list(trace.events(LlmCall))
    print(f"model:     {len(calls)} calls")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
