"""The script that a fault of the browser group puts into a page."""

import json
from typing import Any

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults.base import PageFault
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.seeds import KeyedRng

URL = "https://shop.test/"


def script(fault: PageFault, seed: int = 1, pages: int = 0, *, url: str = URL) -> InjectedScript:
    """Return the script that is put into the page with this number."""
    page = Exchange("1", Request("GET", url, {"sec-fetch-dest": "document"}))
    ((effect,), _) = fault.effects(page, {"pages": pages}, KeyedRng(seed, "r"))
    assert isinstance(effect, Rewrite)
    assert isinstance(effect.edit, InjectedScript)
    return effect.edit


def settings(fault: PageFault, seed: int = 1, *, url: str = URL) -> dict[str, Any]:
    """Return the settings of the page's script."""
    text = script(fault, seed, url=url).script
    at = text.rindex("({", 0, text.index('"report":'))
    result, _ = json.JSONDecoder().raw_decode(text, at + 1)
    return dict(result)
