"""Upgrades the events of older traces, as a table of ``docs/reference/trace-format.md`` says."""

from collections.abc import Mapping
from typing import Any, Final

_INACTION_RESISTS: Final = ("prompt_injection", "deceptive_form", "xss")

_EFFECTS: Final[Mapping[str, str]] = {
    "elsewhere": "other_page",
    "earlier": "stale_response",
    "twice": "duplicate_request",
    "amend": "edit_tool_response",
    "say": "push_tool_event",
    "unresolved": "dns_error",
}
"""The effects that version 3 renamed."""

MISTAKABLE: Final = b'"fault_planned"'
"""The event whose older form is also one of now, but incomplete; no other older form is."""


def upgrade(event: dict[str, Any], version: int) -> None:
    """Change the fields of an event of a ``schema_version`` to the current form."""
    if version < 2:
        _add_properties(event)
    if version < 3:
        _rename(event)


def _add_properties(event: dict[str, Any]) -> None:
    """Add a fault's properties to version 1, which lacks them; they follow from its kind."""
    fault = event.get("fault")
    if event.get("event") != "fault_planned" or not isinstance(fault, dict):
        return
    kind, pattern = str(fault.get("kind", "")), fault.get("pattern")
    api = kind.partition("_")[0]
    point = event.get("point")
    event["target"] = api if api in ("llm", "mcp") else "site" if point is None else "connection"
    event["inaction_resists"] = kind in _INACTION_RESISTS or pattern == "disguised_ad"
    event["looks_healthy"] = kind == "llm_stale"


def _rename(event: dict[str, Any]) -> None:
    """Rename what version 3 renamed."""
    match event.get("event"):
        case "fault_planned" if isinstance(effects := event.get("effects"), list):
            event["effects"] = [_EFFECTS.get(str(effect), effect) for effect in effects]
        case "llm_retried" if "told_s" in event:
            event["retry_after_s"] = event.pop("told_s")
        case "response" if event.get("by") == "nobody":
            event["by"] = "none"
