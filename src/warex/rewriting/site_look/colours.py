"""Reads a colour of CSS as ``#rrggbb``, and how light it is.

Source: CSS Color Module Level 4; a colour that is not opaque is left out.
"""

import json
import re
from colorsys import hls_to_rgb
from functools import cache
from importlib.resources import files
from math import cos, isfinite, radians, sin
from typing import Final

from warex.text.lazy_pattern import lazy_re

_ADDRESS: Final = lazy_re(r"url\([^)]*\)")
_HEX: Final = lazy_re(r"#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})(?![0-9a-z])")
_FUNCTION: Final = lazy_re(r"(rgba?|hsla?|oklch|oklab)\(([^()]{1,80})\)")
_WORD: Final = lazy_re(r"(?<![\w#.-])[a-z]{3,20}(?![\w(-])")
_OPAQUE: Final = 0.85


@cache
def _named() -> dict[str, str]:
    """Return CSS's named colours as six digits (CSS Color Module Level 4, section 6.1)."""
    text = (files(__package__) / "colour_names.json").read_text(encoding="ascii")
    return dict(json.loads(text))


def colour_in(value: str) -> str:
    """Return the first opaque colour in a value; empty for none."""
    value = _ADDRESS.sub(" ", value[:400].lower())
    colours = [(it.start(), _of_hex(it[0])) for it in _HEX.finditer(value)]
    colours += [(it.start(), _of_function(it[1], it[2])) for it in _FUNCTION.finditer(value)]
    names = _named()
    colours += [(it.start(), f"#{names[it[0]]}") for it in _WORD.finditer(value) if it[0] in names]
    return min(colours, default=(0, ""))[1]


def lightness(colour: str) -> float:
    """Return the relative luminance of ``#rrggbb``, from 0 to 1 (WCAG 2.2)."""
    channels = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (
        it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((lightness(one), lightness(other)))
    return (light + 0.05) / (dark + 0.05)


def is_chromatic(colour: str) -> bool:
    """Whether a colour is not grey."""
    channels = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
    return max(channels) - min(channels) > 40


def text_on(colour: str) -> str:
    """Return black or white, whichever is read better on a colour."""
    return max("#ffffff", "#111111", key=lambda it: contrast(it, colour))


def _of_hex(text: str) -> str:
    digits = text[1:]
    if len(digits) < 6:
        digits = "".join(2 * digit for digit in digits)
    is_opaque = len(digits) == 6 or int(digits[6:], 16) >= 255 * _OPAQUE
    return f"#{digits[:6]}" if is_opaque else ""


def _of_function(name: str, inside: str) -> str:
    parts = [part for part in re.split(r"[\s,/]+", inside.strip()) if part]
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return ""
    if not 3 <= len(numbers) <= 4 or not all(map(isfinite, numbers)):
        return ""
    one, two, three = numbers[:3]
    if len(numbers) == 4 and numbers[3] < _OPAQUE:
        return ""
    if name.startswith("rgb"):
        scale = [255 if part.endswith("%") else 1 for part in parts]
        return _joined(*(it * by / 255 for it, by in zip(numbers[:3], scale, strict=False)))
    if name.startswith("hsl"):
        two, three = (
            it if part.endswith("%") else it / 100
            for it, part in ((two, parts[1]), (three, parts[2]))
        )
        return _joined(*hls_to_rgb(one % 360 / 360, min(max(three, 0), 1), min(max(two, 0), 1)))
    if name == "oklch":
        two, three = two * cos(radians(three)), two * sin(radians(three))
    return _joined(*_of_oklab(one, two, three))


def _number(part: str) -> float:
    if part == "none":
        return 0.0
    return float(part[:-1]) / 100 if part.endswith("%") else float(part.removesuffix("deg"))


def _of_oklab(light: float, a: float, b: float) -> tuple[float, float, float]:
    long = min(max(light + 0.3963377774 * a + 0.2158037573 * b, -2), 2) ** 3
    middle = min(max(light - 0.1055613458 * a - 0.0638541728 * b, -2), 2) ** 3
    short = min(max(light - 0.0894841775 * a - 1.2914855480 * b, -2), 2) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    red, green, blue = (
        12.92 * it if it <= 0.0031308 else 1.055 * it ** (1 / 2.4) - 0.055 for it in linear
    )
    return red, green, blue


def _joined(red: float, green: float, blue: float) -> str:
    return "#" + "".join(f"{round(255 * min(max(it, 0), 1)):02x}" for it in (red, green, blue))
