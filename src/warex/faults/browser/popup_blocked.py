"""The browser opens no new window, as with a popup blocker."""

from typing import ClassVar, Final, Literal, override

from pydantic import Field, JsonValue

from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, PageFault, run_in_page
from warex.seeds import KeyedRng

_WHY_NOTHING: Final = {"unused": "the page did not ask for a window"}


class PopupBlocked(PageFault, frozen=True):
    """Let ``window.open`` return null, and links to new windows do nothing if so wanted.

    Source: WHATWG HTML, section 7.2.2.1 (``open`` returns null where no window is made).
    """

    summary: ClassVar = "Block new windows: window.open returns null."

    kind: Literal["popup_blocked"] = "popup_blocked"
    links: bool = Field(
        default=False,
        strict=True,
        description="Whether links and forms with target=_blank do nothing, too.",
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Block windows before the page's scripts run."""
        settings: dict[str, JsonValue] = {"isEarly": True, "links": self.links}
        return run_in_page(__name__, settings, state, rng, details=_WHY_NOTHING)

    @override
    def outcome(self) -> str:
        links = ", nor by a link" if self.links else ""
        return f"its page can open no window by script{links}"
