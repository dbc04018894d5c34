"""The script that a fault of the variation group injects into a page."""

import json
from typing import Any

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults.variation.base import VariationFault
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/", {"sec-fetch-dest": "document"}))


def script(fault: VariationFault, seed: int = 1, pages: int = 0) -> InjectedScript:
    """Return the script that is injected into the page with this number."""
    ((effect,), _) = fault.effects(PAGE, {"pages": pages}, KeyedRng(seed, "r"))
    assert isinstance(effect, Rewrite)
    assert isinstance(effect.edit, InjectedScript)
    return effect.edit


def settings(fault: VariationFault, seed: int = 1) -> dict[str, Any]:
    """Return the settings of the page's script."""
    text = script(fault, seed).script
    at = text.rindex("({", 0, text.index('"report":'))
    result, _ = json.JSONDecoder().raw_decode(text, at + 1)
    return dict(result)
