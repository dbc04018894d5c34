"""`python -m tests.analysis.trajectories.strip_trace ATTEMPT NAME`: store a reduced trace.

It keeps what the detector reads, with new line numbers, and drops messages, most headers and all
other events.
"""

import json
import sys
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"

EVENTS = {
    *("trial_began", "armed", "disarmed", "request", "response", "fault_planned"),
    *("fault_delivered", "fault_missed", "llm_call", "agent_action", "trial_ended"),
}
_HEADERS = {"referer", "sec-fetch-user", "sec-fetch-mode", "sec-fetch-dest"}


def strip_trace(attempt: Path, name: str) -> Path:
    """Write `recorded/NAME.jsonl` from an attempt's folder; return its path."""
    lines: list[str] = []
    for line in (attempt / "events.jsonl").read_text("utf-8").splitlines():
        event: dict[str, Any] = json.loads(line)
        if event["event"] not in EVENTS:
            continue
        if "headers" in event:
            event["headers"] = [pair for pair in event["headers"] if pair[0].lower() in _HEADERS]
        if event["event"] == "llm_call":
            event |= {"messages": [], "tools": None}
        lines.append(json.dumps(event | {"seq": len(lines) + 1}, ensure_ascii=False))
    path = RECORDED / f"{name}.jsonl"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


if __name__ == "__main__":
    print(strip_trace(Path(sys.argv[1]), sys.argv[2]))
