"""The colours of report and figures, in light and in dark.

Text has a contrast of at least 4.5 to 1 to its background, marks of at least 3 to 1 (WCAG 2.2, AA).
Colours are never the only sign: there is always a word, a shape or a pattern.
"""

_COLOURS = {
    "paper": ("#fbfaf8", "#14171d"),
    "card": ("#ffffff", "#1b1f27"),
    "ink": ("#1d2330", "#e6e9ef"),
    "soft": ("#575f6f", "#a3acbb"),
    "line": ("#dedbd3", "#353c49"),
    "link": ("#1a56b0", "#8ab4f8"),
    "good": ("#0b6b3a", "#7fd8a4"),
    "good-tint": ("#e3f4ea", "#17332a"),
    "bad": ("#a1281c", "#f4a097"),
    "bad-tint": ("#fbe9e6", "#3a201f"),
    "none-tint": ("#f0efeb", "#252a34"),
    "warn": ("#7a4b00", "#f0c774"),
    "warn-tint": ("#fff3d9", "#372c14"),
    "band": ("#ecebe6", "#2a303b"),
    "hue-0": ("#6b7280", "#9aa4b5"),
    "hue-1": ("#1f5fbf", "#6ea3ec"),
    "hue-2": ("#c2410c", "#fb923c"),
    "hue-3": ("#6d3fc0", "#b794f6"),
    "hue-4": ("#0f766e", "#2dd4bf"),
    "hue-5": ("#be185d", "#f472b6"),
    "hue-6": ("#806000", "#e0c34a"),
    "hue-7": ("#7b4a2d", "#c99b7a"),
}
"""In light and in dark."""
LIGHT = {name: light for name, (light, _) in _COLOURS.items()}
DARK = {name: dark for name, (_, dark) in _COLOURS.items()}
HEAT_STEPS = 6
"""Steps of ``heat-0`` (none) to ``heat-5`` (all): the more, the fuller."""
HUES = 8
"""How many hues there are; ``hue-0`` is for what is not a fault."""


def _mix(one: str, other: str, share: float) -> str:
    pairs = ((int(one[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in pairs)


for _colours in (LIGHT, DARK):
    for _step in range(HEAT_STEPS):
        _full = 0.48 * _step / (HEAT_STEPS - 1)
        _colours[f"heat-{_step}"] = _mix(_colours["card"], _colours["hue-1"], _full)


def css_variables(of: dict[str, str]) -> str:
    """Return the colours as CSS custom properties."""
    return " ".join(f"--{name}: {colour};" for name, colour in of.items())
