"""The site has other fonts, sizes, spaces, borders and colours."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import JsonValue

from warex.faults.variation.base import VariationFault
from warex.seeds import KeyedRng

_BUTTONS: Final = "button, input[type=submit], input[type=button], [role=button]"
_LABELLED: Final = "button:not(:has(svg, img)), input[type=submit], input[type=button]"
_FIELDS: Final = "input, select, textarea"
_HEADINGS: Final = "h1, h2, h3"
_RULES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (
        "body, button, input, select, textarea",
        ("font-family: Georgia, serif", "font-family: Verdana, sans-serif"),
    ),
    ("body", ("font-size: 15px", "font-size: 17px", "font-size: 18px")),
    ("body", ("line-height: 1.3", "line-height: 1.7")),
    ("a", ("text-decoration: none", "text-decoration: underline dotted")),
    (_HEADINGS, ("font-weight: 400", "font-weight: 800")),
    (_HEADINGS, ("letter-spacing: 0.06em", "letter-spacing: -0.02em")),
    (_BUTTONS, ("border-radius: 0", "border-radius: 20px")),
    (_LABELLED, ("padding: 5px 10px", "padding: 12px 26px")),
    # Both colours, so that the text is legible on any background.
    (
        _BUTTONS,
        (
            "background: #234b8c; color: #fff",
            "background: #2f5d2a; color: #fff",
            "background: #f2e9d8; color: #3a2a18",
        ),
    ),
    (_FIELDS, ("border: 2px solid #888", "border: 1px dashed #555")),
    (_FIELDS, ("padding-block: 4px", "padding-block: 12px")),
    ("li, td, th, p", ("padding-top: 2px", "padding-top: 8px")),
)
"""Selectors, each with declarations to choose from."""


class Restyle(VariationFault, frozen=True):
    """Add a style sheet after the site's own that hides, moves or obscures nothing."""

    summary: ClassVar = "Give the site other fonts, sizes, spaces, borders and colours."
    meets: ClassVar = "has another style"

    kind: Literal["restyle"] = "restyle"

    def settings(self, rng: KeyedRng) -> Mapping[str, JsonValue]:
        """Choose a share of the rules, at least one, and their declarations."""
        first = rng.choice(range(len(_RULES)), "first")
        chosen = [
            (selector, rng.choice(declared, "declared", number))
            for number, (selector, declared) in enumerate(_RULES)
            if self.strength and (number == first or rng.draw("rule", number) < self.strength)
        ]
        return {
            "css": "\n".join(
                f"{selector} {{ {declared.replace(';', ' !important;')} !important }}"
                for selector, declared in chosen
            )
        }
