"""The base class of variations: the site looks different, alike throughout a trial."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, override

from pydantic import Field, JsonValue

from warex.exchange import Exchange
from warex.faults.base import (
    EffectsAndState,
    FaultState,
    PageFault,
    run_in_page,
)
from warex.rewriting.html_body.script_injection import PAGE_LANGUAGE
from warex.seeds import KeyedRng

type Strength = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
"""The changed share of a site, from 0 to 1."""


class VariationFault(PageFault, frozen=True):
    """A site that works as before but differs from the one that was learned.

    A rule should hit all pages (``always``). The changes depend on the seed and the page's own
    words, not on the page's number, so that all pages of a trial agree.
    """

    category: ClassVar = "variation"
    sizes: ClassVar[tuple[str, ...]] = ("strength",)
    helpers: ClassVar[tuple[str, ...]] = ("watching",)
    """Scripts of this folder that the fault's script needs."""
    meets: ClassVar[str]
    """The change in words, a predicate of "its page"."""

    strength: Strength = Field(default=0.5, description="How much is changed, from 0 to 1.")

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Change each page that is hit in the same way; only its report path differs."""
        settings: dict[str, JsonValue] = {
            "seed": int(rng.draw("page") * 2**32),
            "strength": self.strength,
            **self.settings(rng),
        }
        script = f"{__package__}.page_scripts.{self.kind}"
        return run_in_page(script, settings, state, rng, (PAGE_LANGUAGE, *self.helpers))

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Return the script's settings other than the seed and the strength; none by default."""
        return {}

    @override
    def outcome(self) -> str:
        return f"its page {self.meets} (strength {self.strength:g})"
