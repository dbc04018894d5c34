"""Actions have moved into a menu, as behind a flag that is on for some users."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import JsonValue

from warex.faults.variation.base import VariationFault
from warex.seeds import KeyedRng


class FeatureFlag(VariationFault, frozen=True):
    """Put a share of the actions of each menu or toolbar one click further away."""

    summary: ClassVar = "Move actions of menus and toolbars into a further menu."
    meets: ClassVar = "has some of its actions in a further menu"

    kind: Literal["feature_flag"] = "feature_flag"

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Choose what the menu is called."""
        label = rng.choice(("More", "Options", "\u22ef More actions"), "label")
        return {"share": self.strength, "label": label}
