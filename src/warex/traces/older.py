"""Completes the events of older traces."""

import msgspec

from warex.traces.events import Event, FaultPlanned

_INACTION_RESISTS = ("prompt_injection", "deceptive_form", "xss")


def completed(event: Event, version: int) -> Event:
    """Return an event of a ``schema_version`` in the current form.

    Version 1 lacks a fault's properties, which follow from its kind.
    """
    if version > 1 or not isinstance(event, FaultPlanned):
        return event
    kind, pattern = str(event.fault.get("kind", "")), event.fault.get("pattern")
    api = kind.partition("_")[0]
    return msgspec.structs.replace(
        event,
        target=api if api in ("llm", "mcp") else "site" if event.point is None else "connection",
        inaction_resists=kind in _INACTION_RESISTS or pattern == "disguised_ad",
        looks_healthy=kind == "llm_stale",
    )
