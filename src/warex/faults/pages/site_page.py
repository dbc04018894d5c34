"""Pages in the look of the site that they stand for; a neutral look where nothing is known."""

from typing import Final

from warex.exchange import SiteLook
from warex.faults.pages.incident import Incident, Page
from warex.faults.pages.wording import direction

_NEUTRAL: Final = (
    ("#ffffff", "#222222", "#1a73e8", "system-ui, sans-serif"),
    ("#fdf6ec", "#3a2a18", "#c4552d", "Georgia, serif"),
    ("#1f2430", "#f4f5f7", "#3d8f62", "Verdana, sans-serif"),
    ("#f3f6ff", "#1b2559", "#5b3df5", "Arial, sans-serif"),
)
"""Ground, ink and accent colours, and font."""
_ACCENT: Final = "#1f5fbf"
"""Of a site whose own has not been seen."""
_FRAME: Final = """<!DOCTYPE html>
<html lang="$language" dir="$direction"><head><meta charset="utf-8"><title>$title$end</title>
<meta name="viewport" content="width=device-width"><style>
body{margin:0;background:$ground;color:$ink;font:17px/1.5 $font}
body>header{display:flex;align-items:center;gap:12px;padding:14px 28px;background:$bar;\
color:$on_bar;font-size:19px;font-weight:600}
body>header img{max-height:40px;max-width:220px}
main{padding:0 24px}
button{font:inherit;padding:11px 26px;border:1px solid $accent;border-radius:$corner;\
background:$accent;color:$on_accent;cursor:pointer}
a{color:inherit}
"""
_TOP: Final = """</style></head><body>
<header>$logo<span>$site</span></header>
<main>
"""


def site_look(look: SiteLook, incident: Incident) -> dict[str, str]:
    """Return the values of a page's style: the site's, or those that the seed chooses."""
    if look.ground:
        accent = look.accent or _ACCENT
        return dict(
            ground=look.ground,
            ink=look.ink,
            accent=accent,
            on_accent=look.on_accent or "#ffffff",
            bar=look.bar or "transparent",
            on_bar=look.on_bar or look.ink,
            font=look.font or "serif",
            corner=look.corner or "4px",
        )
    ground, ink, accent, font = incident.rng.choice(_NEUTRAL, "look", incident.host)
    return dict(
        ground=ground,
        ink=ink,
        accent=accent,
        on_accent="#ffffff",
        bar="transparent",
        on_bar=ink,
        font=font,
        corner="4px",
    )


def site_page(incident: Incident, title: str, style: str, content: str, **words: str) -> Page:
    """Return a page with the site's bar at the top.

    ``style`` and ``content`` are templates of CSS and HTML; they may use ``$title``, ``$accent``
    and the others, and ``words``. Everything that is put in place is escaped.
    """
    look = incident.look
    top = _TOP.replace("$logo", '<img src="$logo" alt="">' if look.logo else "")
    return incident.html(
        f"{_FRAME}{style}{top}{content}\n</main></body></html>\n",
        None,
        title=title,
        end=f" \u2013 {look.name}" if look.name else "",
        language=incident.language,
        direction=direction(incident.language),
        logo=look.logo,
        site=incident.site,
        **site_look(look, incident),
        **words,
    )
