"""The agent of `program` with other tools, whose clients retry in ways of their own.

`client`: besides those of `program`, `patient` (three tries, of which the model is told).
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.analysis.trajectories.second_collector.agents import program

_FETCHING = {"visit", "get", "http_request"}


def _patient(method: str, url: str, data: Any) -> str:
    lines: list[str] = []
    for attempt in range(1, 4):
        got = program.fetch("requests", method, url, data)
        if got[:1] in "234":
            return "\n".join([*lines, got])
        lines.append(f"attempt {attempt} failed: {got[:60]}")
        time.sleep(0.3)
    return "\n".join(lines)


def use(name: str, value: Any, client: str) -> str:
    """Execute a call of a tool."""
    short = name.rsplit("__", 1)[-1].rsplit(".", 1)[-1]
    if not isinstance(value, dict) or short not in _FETCHING:
        return program.tool("bash" if short == "run_shell" else short, value, client)
    method = value.get("method", "GET")
    data = value.get("body")
    if client == "patient":
        return _patient(method, value["url"], data)
    return program.fetch(client, method, value["url"], data)


if __name__ == "__main__":
    sys.exit(program.main(json.loads(Path(sys.argv[1]).read_text("utf-8")), use))
