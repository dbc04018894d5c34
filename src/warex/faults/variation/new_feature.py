"""The site has a new banner, hint or button."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import JsonValue

from warex.faults.base import as_setting
from warex.faults.pages.wording import in_languages
from warex.faults.variation.base import VariationFault
from warex.seeds import KeyedRng

type What = Literal["banner", "hint", "button"]

_WORDS: Final[Mapping[What, tuple[tuple[str, str], ...]]] = {
    "banner": (
        ("New: save what you like and find it again on every device.", "Got it"),
        ("We have a new look. Tell us how you like it.", "Hide"),
    ),
    "hint": (
        ("Tip: you can now sort this page by what matters to you.", "OK"),
        ("Step 1 of 3: this is the new menu.", "Skip the tour"),
    ),
    "button": (("Chat with us", "Close"), ("Feedback", "Close")),
}
_PLACES: Final[Mapping[What, Mapping[str, str]]] = {
    "banner": {"position": "static", "display": "flex", "gap": "16px"},
    "hint": {"position": "fixed", "top": "80px", "right": "24px", "max-width": "260px"},
    "button": {"position": "fixed", "bottom": "24px", "right": "24px"},
}


class NewFeature(VariationFault, frozen=True):
    """Add one to three elements; one click removes each, and none covers the whole page."""

    summary: ClassVar = "Add a banner, a hint or a button that was not there before."
    meets: ClassVar = "has something new, which one click takes away"

    kind: Literal["new_feature"] = "new_feature"

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Choose the elements and their texts."""
        kinds: tuple[What, ...] = tuple(_WORDS)
        number = round(self.strength * len(kinds) + 0.49) if self.strength else 0
        chosen = sorted(kinds, key=lambda kind: rng.draw("kind", kind))[:number]
        added: list[JsonValue] = []
        for kind in chosen:
            text, close = rng.choice(_WORDS[kind], "words", kind)
            style: dict[str, JsonValue] = {
                **_PLACES[kind],
                "background": "#eef4ff",
                "color": "#1b2559",
                "padding": "12px 18px",
                "border-radius": "8px",
                "z-index": "1000",
            }
            wordings = as_setting(in_languages(kind, text=text, close=close))
            added.append({"words": wordings, "style": style, "top": kind == "banner"})
        return {"added": added}
