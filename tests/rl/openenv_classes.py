"""Compares the sessions with OpenEnv's own classes; run in an environment that has them."""

import json
from dataclasses import fields

from openenv.core.harness import (
    LoopOwningSession,
    ResourceSession,
    ResourceSessionFactory,
    TraceEntry,
    VerifyResult,
)

from tests.rl.test_trace_entries import CALL
from warex.rl import Session, SessionFactory, Verification
from warex.rl.trace_entries import trace_entries

PAIRS = ((ResourceSession, Session), (ResourceSessionFactory, SessionFactory))
print(
    json.dumps(
        {
            "missing methods": [
                name
                for theirs, ours in PAIRS
                for name in theirs.__abstractmethods__
                if not hasattr(ours, name)
            ],
            "owns its loop": issubclass(Session, LoopOwningSession),
            "unknown fields of a result": [
                it.name
                for it in fields(Verification)
                if it.name not in {theirs.name for theirs in fields(VerifyResult)}
            ],
            "unknown keys of an entry": [
                key for key in trace_entries([CALL], {})[0] if key not in TraceEntry.__annotations__
            ],
        }
    )
)
