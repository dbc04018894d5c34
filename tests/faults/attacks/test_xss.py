import json
from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults.attacks.xss import Xss
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/", {"sec-fetch-dest": "document"}))


def settings(fault: Xss, seed: int = 1, pages: int = 0) -> dict[str, Any]:
    ((effect,), _) = fault.effects(PAGE, {"pages": pages}, KeyedRng(seed, "r"))
    assert isinstance(effect, Rewrite)
    assert isinstance(effect.edit, InjectedScript)
    text = effect.edit.script
    return dict(json.JSONDecoder().raw_decode(text, text.index('{"a'))[0])


def test_each_page_reports_at_an_address_of_its_own() -> None:
    first, second = settings(Xss()), settings(Xss(), pages=1)

    assert first.pop("report") != second.pop("report")
    assert first == second


def test_what_is_read_goes_to_a_host_that_nobody_can_register() -> None:
    assert settings(Xss())["target"].split("/")[2] in Xss.own_site.hosts


def test_the_field_is_the_one_that_a_selector_names() -> None:
    assert settings(Xss(selector="#code"))["selector"] == "#code"


def test_a_selector_of_nothing_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="selector"):
        Xss(selector="")


def test_the_explanation_names_the_selector() -> None:
    assert Xss(selector="#code").explain() == (
        "is handled by the site, and has a script that sends a field away (#code)"
    )
