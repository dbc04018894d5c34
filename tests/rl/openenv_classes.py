"""Compares the sessions with OpenEnv's own classes; where those are installed."""

from dataclasses import asdict, fields
from typing import Any

from openenv.core.harness import (
    LoopOwningSession,
    ResourceSession,
    ResourceSessionFactory,
    TraceEntry,
    TrainableSession,
    TrainingTrace,
    VerifyResult,
)

from tests.rl.test_trace_entries import CALL
from tests.rl.test_training_trace import TOKENS
from warex.rl import Session, SessionFactory, Verification
from warex.rl.trace_entries import trace_entries
from warex.rl.training_trace import training_trace

TRACE = training_trace([CALL], {CALL.exchange: TOKENS})

PAIRS = ((ResourceSession, Session), (ResourceSessionFactory, SessionFactory))


def comparison() -> dict[str, Any]:
    """Return in what the classes differ, and whether the sessions are of the kinds wanted."""
    return {
        "missing methods": [
            name
            for theirs, ours in PAIRS
            for name in theirs.__abstractmethods__
            if not hasattr(ours, name)
        ],
        "owns its loop": issubclass(Session, LoopOwningSession),
        "can be trained on": issubclass(Session, TrainableSession),
        "their trace": TrainingTrace.from_entries(TRACE.to_trace_entries()).model_dump()
        == asdict(TRACE),
        "unknown fields of a result": [
            it.name
            for it in fields(Verification)
            if it.name not in {theirs.name for theirs in fields(VerifyResult)}
        ],
        "unknown keys of an entry": [
            key
            for key in trace_entries([CALL], {CALL.exchange: TOKENS})[0]
            if key not in TraceEntry.__annotations__
        ],
    }
