"""Actions are in another menu, as with a feature flag for some users."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import JsonValue

from warex.faults.base import as_setting
from warex.faults.pages.wording import in_languages
from warex.faults.variation.base import VariationFault
from warex.seeds import KeyedRng


class FeatureFlag(VariationFault, frozen=True):
    """Move a share of the actions of each menu or toolbar into a submenu."""

    summary: ClassVar = "Move actions of menus and toolbars into a further menu."
    meets: ClassVar = "has some of its actions in a further menu"

    kind: Literal["feature_flag"] = "feature_flag"

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Choose the menu's label."""
        label = rng.choice(("More", "Options", "\u22ef More actions"), "label")
        words = as_setting(in_languages("menu", label=label))
        return {"share": self.strength, "words": words}
