"""A trace of version 1 did not say what is true of its faults; its kinds of then tell it."""

import json
from pathlib import Path
from typing import Any

import pytest

from warex.traces import FaultPlanned, TraceWriter, read_trace

from .samples import fixed_clock

NEW = ("target", "inaction_resists", "looks_healthy")


def older(folder: Path, fault: dict[str, Any], *, lean: bool, spaced: bool) -> FaultPlanned:
    """Return the event of a fault as a trace of version 1 has it."""
    planned = FaultPlanned(
        injection="i1",
        exchange="x1",
        rule="r",
        fault=fault,
        stage="request",
        scope="",
        ordinal=1,
        effects=("reply",),
        url="https://shop.example/",
        point="connect" if fault["kind"] == "connection_refused" else None,
    )
    path = folder / "events.jsonl"
    with TraceWriter(path, fixed_clock()) as trace:
        trace.write(planned)
    line = {**json.loads(path.read_text()), "schema_version": 1}
    retained = {name: value for name, value in line.items() if name not in NEW}
    path.write_text(json.dumps(retained, separators=None if spaced else (",", ":")) + "\n")
    [plans] = read_trace(path, lean=lean).events(FaultPlanned)
    return plans


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"kind": "http_error"}, ("site", False, False)),
        ({"kind": "connection_refused"}, ("connection", False, False)),
        ({"kind": "llm_error"}, ("llm", False, False)),
        ({"kind": "llm_stale"}, ("llm", False, True)),
        ({"kind": "mcp_slow"}, ("mcp", False, False)),
        ({"kind": "prompt_injection"}, ("site", True, False)),
        ({"kind": "deceptive_form"}, ("site", True, False)),
        ({"kind": "xss"}, ("site", True, False)),
        ({"kind": "dark_pattern", "pattern": "disguised_ad"}, ("site", True, False)),
        ({"kind": "dark_pattern", "pattern": "nagging"}, ("site", False, False)),
    ],
)
@pytest.mark.parametrize(("lean", "spaced"), [(False, False), (True, False), (False, True)])
def test_an_older_trace_is_read_as_if_it_said_what_is_true_of_a_fault(
    fault: dict[str, Any],
    message: tuple[str, bool, bool],
    lean: bool,
    spaced: bool,
    tmp_path: Path,
) -> None:
    plan = older(tmp_path, fault, lean=lean, spaced=spaced)

    assert (plan.target, plan.inaction_resists, plan.looks_healthy) == message
