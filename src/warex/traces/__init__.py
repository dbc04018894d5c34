"""The files of a run: its manifest, and each trial's events and outcome.

Each name is imported when it is first asked for: who writes an outcome need not load what reads a
trace.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warex.traces.blobs import BlobStore
    from warex.traces.event_parts import ArmedBy, ChangedValue, MissReason, Timings
    from warex.traces.events import (
        SCHEMA_VERSION,
        AgentAction,
        Armed,
        Canary,
        Control,
        DefenceApplied,
        Disarmed,
        Dns,
        Entry,
        Event,
        FaultDelivered,
        FaultMissed,
        FaultPlanned,
        HarnessBroke,
        LlmCall,
        LlmRetried,
        LlmUnread,
        McpCall,
        Repeated,
        RequestRefused,
        RequestSeen,
        ResponseSeen,
        SiteUnreachable,
        TaskBegan,
        TaskEnded,
        TlsRejected,
        ToldBy,
        TrialBegan,
        TrialEnded,
        Tunnel,
        WebSocketSeen,
        Witness,
    )
    from warex.traces.files import write_atomic, write_error
    from warex.traces.llm_cache import (
        begin_llm_cache,
        discard_answers,
        llm_cache_secret,
        publish_answers,
        shared_answers_dir,
    )
    from warex.traces.manifest import (
        Manifest,
        read_manifest,
        redact_manifest,
        write_manifest,
    )
    from warex.traces.outcome import (
        CRASHED_BEFORE_A_FAULT,
        Counted,
        Ending,
        Outcome,
        Unscored,
        Void,
    )
    from warex.traces.outcome_file import (
        leave_outcome,
        read_outcome,
        without_learned,
        write_outcome,
    )
    from warex.traces.paths import (
        CLEAN,
        EVENTS,
        MANIFEST,
        NO_PROXY,
        PRICES,
        TrialKey,
        attempt_dir,
        escape,
        find_trials,
        trial_dir,
        unescape,
    )
    from warex.traces.reader import Trace, iter_trace, read_trace
    from warex.traces.redaction.files import keep_out, redact_file, redact_learned, secrets_of
    from warex.traces.redaction.structured import redact_text, redact_url
    from warex.traces.writer import TraceWriter

__all__ = [
    "CLEAN",
    "CRASHED_BEFORE_A_FAULT",
    "EVENTS",
    "MANIFEST",
    "NO_PROXY",
    "PRICES",
    "SCHEMA_VERSION",
    "AgentAction",
    "Armed",
    "ArmedBy",
    "BlobStore",
    "Canary",
    "ChangedValue",
    "Control",
    "Counted",
    "DefenceApplied",
    "Disarmed",
    "Dns",
    "Ending",
    "Entry",
    "Event",
    "FaultDelivered",
    "FaultMissed",
    "FaultPlanned",
    "HarnessBroke",
    "LlmCall",
    "LlmRetried",
    "LlmUnread",
    "Manifest",
    "McpCall",
    "MissReason",
    "Outcome",
    "Repeated",
    "RequestRefused",
    "RequestSeen",
    "ResponseSeen",
    "SiteUnreachable",
    "TaskBegan",
    "TaskEnded",
    "Timings",
    "TlsRejected",
    "ToldBy",
    "Trace",
    "TraceWriter",
    "TrialBegan",
    "TrialEnded",
    "TrialKey",
    "Tunnel",
    "Unscored",
    "Void",
    "WebSocketSeen",
    "Witness",
    "attempt_dir",
    "begin_llm_cache",
    "discard_answers",
    "escape",
    "find_trials",
    "iter_trace",
    "keep_out",
    "leave_outcome",
    "llm_cache_secret",
    "publish_answers",
    "read_manifest",
    "read_outcome",
    "read_trace",
    "redact_file",
    "redact_learned",
    "redact_manifest",
    "redact_text",
    "redact_url",
    "secrets_of",
    "shared_answers_dir",
    "trial_dir",
    "unescape",
    "without_learned",
    "write_atomic",
    "write_error",
    "write_manifest",
    "write_outcome",
]


_MODULES = (
    *("paths", "files", "outcome", "outcome_file", "event_parts", "events", "blobs", "writer"),
    *("redaction.structured", "reader", "llm_cache", "redaction.files", "manifest"),
)
"""Where these names are defined; what is quickly imported comes first."""


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    modules = (import_module(f"{__name__}.{module}") for module in _MODULES)
    value: object = next(vars(module)[name] for module in modules if name in vars(module))
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
