"""The browser's storage for a page is denied, or full."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal, override

from pydantic import Field, JsonValue

from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, PageFault, run_in_page
from warex.seeds import KeyedRng

type Area = Literal["local", "session", "indexed_db"]

_NAMES: Final[Mapping[Area, str]] = {
    "local": "localStorage",
    "session": "sessionStorage",
    "indexed_db": "indexedDB",
}
_WHY_NOTHING: Final = {
    "unused": "the page did not use that storage",
    "refused": "the browser gives this page no such storage anyhow",
}


class StorageFailure(PageFault, frozen=True):
    """Let the page's storage throw, before the page's own scripts run.

    Sources: WHATWG HTML, section 12.2 (``SecurityError``, ``QuotaExceededError``); W3C Indexed
    Database API 3.0, sections 4.3 and 5.5. The messages are Chromium's.
    """

    summary: ClassVar = "Deny a page its localStorage and IndexedDB, or let them be full."

    kind: Literal["storage_failure"] = "storage_failure"
    how: Literal["denied", "full"] = Field(
        default="denied",
        description="Each use throws a SecurityError; or each write a QuotaExceededError.",
    )
    area: Area | None = Field(default=None, description="Which storage; left out, all three.")

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Put the failing storage before the page's scripts."""
        areas: list[JsonValue] = [_NAMES[area] for area in self._areas]
        settings: dict[str, JsonValue] = {"isEarly": True, "areas": areas, "how": self.how}
        return run_in_page(__name__, settings, state, rng, details=_WHY_NOTHING)

    @property
    def _areas(self) -> tuple[Area, ...]:
        return tuple(_NAMES) if self.area is None else (self.area,)

    @override
    def outcome(self) -> str:
        names = "storage" if self.area is None else _NAMES[self.area]
        if self.how == "denied":
            return f"its page may not use its {names} (SecurityError)"
        return f"its page can put nothing more into its {names} (QuotaExceededError)"
