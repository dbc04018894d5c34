import json
from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults.popups.popup import Popup
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/", {"sec-fetch-dest": "document"}))
ABOUT: Any = ("newsletter", "cookies", "survey", "app", "login")


def script(popup: Popup, seed: int = 1, state: dict[str, Any] | None = None) -> InjectedScript:
    ((effect,), _) = popup.effects(PAGE, state or {}, KeyedRng(seed, "r"))
    assert isinstance(effect, Rewrite)
    assert isinstance(effect.edit, InjectedScript)
    return effect.edit


def settings(popup: Popup, seed: int = 1) -> dict[str, Any]:
    inputs = script(popup, seed).script.partition("})(")[2]
    result, _ = json.JSONDecoder().raw_decode(inputs)
    return dict(result)


def test_the_fault_changes_pages_in_the_sites_own_answer() -> None:
    assert Popup.default_resource == ("document",)
    with pytest.raises(ValidationError, match="stage"):
        Popup.model_validate({"stage": "request"})


def test_one_seed_gives_the_same_popup_and_another_seed_another() -> None:
    assert script(Popup(), 3) == script(Popup(), 3)
    assert len({script(Popup(), seed).script for seed in range(20)}) == 20


def test_each_page_that_is_hit_has_a_report_of_its_own() -> None:
    _, state = Popup().effects(PAGE, {}, KeyedRng(1, "r"))

    assert script(Popup()).report != script(Popup(), state=dict(state)).report


@pytest.mark.parametrize("about", ABOUT)
def test_the_popup_has_the_given_theme(about: Any) -> None:
    titles = {settings(Popup(about=about), seed)["words"]["en"]["title"] for seed in range(40)}
    others = {
        settings(Popup(about=it), seed)["words"]["en"]["title"]
        for seed in range(40)
        for it in ABOUT
    }

    assert 2 <= len(titles) <= 3
    assert titles < others


def test_left_out_the_seed_chooses_what_it_is_about() -> None:
    assert len({settings(Popup(), seed)["words"]["en"]["title"] for seed in range(200)}) == 12


def test_times_reach_the_page_in_milliseconds() -> None:
    fields = settings(Popup(after=1.5, every=2, times=3, place="corner"))

    assert (fields["after"], fields["every"], fields["times"]) == (1500, 2000, 3)
    assert not fields["look"]["overlay"]


def test_the_explanation_has_the_faults_values() -> None:
    assert Popup().explain() == ("is handled by the site, and shows a popup over the whole page")
    assert Popup(about="survey", place="corner", after=2, times=3).explain() == (
        "is handled by the site, and shows a popup (survey) in a corner of the page 2 s after its"
        " load, 3 times"
    )


@pytest.mark.parametrize("times", [0, 21, True, "2"])
def test_how_often_it_comes_is_a_small_number(times: object) -> None:
    with pytest.raises(ValidationError, match="times"):
        Popup.model_validate({"times": times})
