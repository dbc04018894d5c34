"""The colours of report and figures, in light and in dark.

Text has a contrast of at least 4.5 to 1 to its background, marks of at least 3 to 1 (WCAG 2.2, AA).
Colours are never the only sign: there is always a word, a shape or a pattern.
"""

LIGHT: dict[str, str] = {
    "paper": "#fbfaf8",
    "card": "#ffffff",
    "ink": "#1d2330",
    "soft": "#575f6f",
    "line": "#dedbd3",
    "link": "#1a56b0",
    "good": "#0b6b3a",
    "good-tint": "#e3f4ea",
    "bad": "#a1281c",
    "bad-tint": "#fbe9e6",
    "none-tint": "#f0efeb",
    "warn": "#7a4b00",
    "warn-tint": "#fff3d9",
    "band": "#ecebe6",
    "hue-0": "#6b7280",
    "hue-1": "#1f5fbf",
    "hue-2": "#c2410c",
    "hue-3": "#6d3fc0",
    "hue-4": "#0f766e",
    "hue-5": "#be185d",
    "hue-6": "#806000",
    "hue-7": "#7b4a2d",
}
DARK: dict[str, str] = {
    "paper": "#14171d",
    "card": "#1b1f27",
    "ink": "#e6e9ef",
    "soft": "#a3acbb",
    "line": "#353c49",
    "link": "#8ab4f8",
    "good": "#7fd8a4",
    "good-tint": "#17332a",
    "bad": "#f4a097",
    "bad-tint": "#3a201f",
    "none-tint": "#252a34",
    "warn": "#f0c774",
    "warn-tint": "#372c14",
    "band": "#2a303b",
    "hue-0": "#9aa4b5",
    "hue-1": "#6ea3ec",
    "hue-2": "#fb923c",
    "hue-3": "#b794f6",
    "hue-4": "#2dd4bf",
    "hue-5": "#f472b6",
    "hue-6": "#e0c34a",
    "hue-7": "#c99b7a",
}
HEAT_STEPS = 6
"""Steps of ``heat-0`` (none) to ``heat-5`` (all): the more, the fuller."""
HUES = 8
"""How many hues there are; ``hue-0`` is for what is no fault."""


def _mixed(one: str, other: str, share: float) -> str:
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


for _colours in (LIGHT, DARK):
    for _step in range(HEAT_STEPS):
        _full = 0.48 * _step / (HEAT_STEPS - 1)
        _colours[f"heat-{_step}"] = _mixed(_colours["card"], _colours["hue-1"], _full)


def css_variables(of: dict[str, str]) -> str:
    """Return the colours as CSS custom properties."""
    return " ".join(f"--{name}: {colour};" for name, colour in of.items())


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours (``#rrggbb``), 1 to 21, as WCAG 2.2 defines it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
