"""What all changed sites are: the page's own, in another guise, the same throughout a trial."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field, JsonValue

from warex.effects import Effect, Rewrite
from warex.exchange import Exchange
from warex.faults.base import FaultState, PageFault, next_number
from warex.rewriting.html_body.script_injection import injected_script
from warex.seeds import KeyedRng

type Strength = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
"""How much of a site is changed: from nothing to all that can be."""


class VariationFault(PageFault, frozen=True):
    """A site that works as before and is not the one that was learned.

    A rule hits all pages (``always``): a site that is changed on one page only is none that people
    meet. What is changed depends on the seed and on the page's own words, not on the page's number,
    so that it is the same on each page of a trial.
    """

    category: ClassVar = "variation"
    sizes: ClassVar[tuple[str, ...]] = ("strength",)
    helpers: ClassVar[tuple[str, ...]] = ("watching",)
    """The scripts of this folder that the fault's own is made with."""
    meets: ClassVar[str]
    """What whoever looks at the page meets, behind "the page"."""

    strength: Strength = Field(default=0.5, description="How much is changed, from 0 to 1.")

    def effects(
        self, exchange: Exchange, memory: FaultState, rng: KeyedRng
    ) -> tuple[tuple[Effect, ...], FaultState]:
        """Change each page that is hit in the same way; only where it reports is its own."""
        number, memory = next_number(memory)
        settings: dict[str, JsonValue] = {
            "seed": int(rng.draw("page") * 2**32),
            "strength": self.strength,
            **self.settings(rng),
        }
        report = f"/{rng.hex_word('report', number)}"
        edit = injected_script(
            f"{__package__}.page_scripts.{self.kind}", settings, report, self.helpers
        )
        return (Rewrite(edit),), memory

    @abstractmethod
    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Return what the page's script is given beside the seed and the strength."""

    def explain(self) -> str:
        """Return what the browser meets, in words."""
        return f"is handled by the site, and its page {self.meets} (strength {self.strength:g})"
