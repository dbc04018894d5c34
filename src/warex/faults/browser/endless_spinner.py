"""A page's loading state never ends."""

from typing import ClassVar, Final, Literal, override

from pydantic import Field, JsonValue

from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, PageFault, as_setting, run_in_page
from warex.faults.pages.wording import in_languages
from warex.rewriting.html_body.script_injection import PAGE_LANGUAGE, PAGE_LOOK
from warex.seeds import KeyedRng

_WORDS: Final = in_languages("loading", text="Loading\u2026")
_MOST_PAGES: Final = 100
"""Pages of a trial that go on loading when they are loaded again."""


class EndlessSpinner(PageFault, frozen=True):
    """Leave the page's own requests for data without an answer.

    Where the page shows no loading state of its own, a spinner in its look covers it.
    """

    summary: ClassVar = "Keep a page loading for ever, with its own spinner or one of WAREX's."

    kind: Literal["endless_spinner"] = "endless_spinner"
    reload: bool = Field(
        default=True, strict=True, description="Whether loading the page again can end it."
    )

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Hold the page's requests, and remember the page if it goes on when loaded again."""
        stuck = _stuck(state)
        url = exchange.request.url
        if not self.reload and url not in stuck and len(stuck) < _MOST_PAGES:
            state = {**state, "stuck": [*stuck, url]}
        settings: dict[str, JsonValue] = {"isEarly": True, "words": as_setting(_WORDS)}
        helpers = (PAGE_LANGUAGE, PAGE_LOOK)
        return run_in_page(__name__, settings, state, rng, helpers, hangs=True)

    @override
    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        return exchange.request.url in _stuck(state)

    @property
    @override
    def never_ends(self) -> str:
        return "the page goes on loading, however often it is loaded again"

    @override
    def outcome(self) -> str:
        again = "" if self.reload else ", also when it is loaded again"
        return f"its page goes on loading without an end{again}"


def _stuck(state: FaultState) -> list[JsonValue]:
    """Return the addresses of the pages that go on loading."""
    stuck = state.get("stuck")
    return stuck if isinstance(stuck, list) else []
