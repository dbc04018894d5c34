"""Late elements above the content push it down."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import JsonValue

from warex.faults.base import as_setting
from warex.faults.pages.wording import in_languages
from warex.faults.variation.base import VariationFault
from warex.seeds import KeyedRng

_WORDS: Final = in_languages(
    "bars",
    first="We have moved: see our new opening hours.",
    second="Now also in the evening: our team answers until 10 pm.",
    third="Thank you for a great year.",
)
_LOOKS: Final = (
    {"background": "#1f3a5f", "color": "#ffffff"},
    {"background": "#fff4d6", "color": "#4a3500"},
    {"background": "#e8f3ec", "color": "#173d24"},
)
_MOST: Final = 3
_TALLEST: Final = 100
"""Pixels."""


class LayoutShift(VariationFault, frozen=True):
    """Put one to three bars above the content, some time after the page's load."""

    summary: ClassVar = "Insert late content above the rest, which moves down."
    meets: ClassVar = "is pushed down by what appears late above it"

    kind: Literal["layout_shift"] = "layout_shift"

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Choose the bars' times, texts and heights."""
        number = round(self.strength * _MOST + 0.49) if self.strength else 0
        looks = sorted(_LOOKS, key=lambda look: rng.draw("look", look["background"]))
        names = sorted(_WORDS["en"], key=lambda name: rng.draw("words", name))
        wordings = [
            {language: {"bar": texts[name]} for language, texts in _WORDS.items()} for name in names
        ]
        taller = self.strength * _TALLEST
        bars: list[JsonValue] = [
            {
                "words": as_setting(wordings[place]),
                "after": 200 + round(rng.draw("after", place) * 900),
                "style": {
                    **looks[place],
                    "height": f"{40 + round(rng.draw('tall', place) * taller)}px",
                    "padding": "12px 24px",
                    "box-sizing": "border-box",
                    "display": "flex",
                    "align-items": "center",
                    "justify-content": "center",
                    "font-size": "18px",
                },
            }
            for place in range(number)
        ]
        return {"bars": bars}
