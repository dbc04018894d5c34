"""A price, date, name or number in a page is wrong."""

from typing import Annotated, ClassVar, Final, Literal, override

from pydantic import Field

from warex.effects import Rewrite
from warex.exchange import BROWSER, Exchange
from warex.faults.base import EffectsAndState, FaultState, PageFault, run_in_page
from warex.rewriting.html_body.text_edit import TextEdit
from warex.rewriting.html_body.text_kinds import TextKind
from warex.seeds import KeyedRng

_WHY_NOTHING: Final = {"canvas": "the page draws on a canvas, whose text cannot be read"}
type _Count = Annotated[int, Field(ge=1, le=1000, strict=True)]


class TextCorruption(PageFault, frozen=True):
    """Change only values in the visible text of an HTML page."""

    category: ClassVar = "lie"
    summary: ClassVar = "Change a price, date, name or number in a page's text."

    kind: Literal["text_corruption"] = "text_corruption"
    value: TextKind = Field(default="price", description="What is changed.")
    nth: _Count = Field(default=1, description="Which of them, counted from the page's top.")
    count: _Count = Field(default=1, description="How many, from that one on.")

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Change the text; the same page always gets the same lie.

        In a browser a script changes it after the load, since hydration would restore the value.
        """
        edit = TextEdit(self.value, rng, self.nth, self.count)
        if not exchange.request.headers.get("user-agent", "").startswith(BROWSER):
            return (Rewrite(edit),), state
        return run_in_page(__name__, {"after": 0}, state, rng, answers=edit, details=_WHY_NOTHING)

    @override
    def outcome(self) -> str:
        which = f"{self.value} {self.nth} from the top"
        more = f" and the next {self.count - 1}" if self.count > 1 else ""
        return f"shows a page in which {which}{more} is false"
