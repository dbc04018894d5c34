import json
from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Reply, Rewrite
from warex.exchange import Exchange, Request
from warex.faults.attacks.dark_pattern import DarkPattern
from warex.rewriting.baskets.added_item import AddedItem
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/", {"sec-fetch-dest": "document"}))


def script(fault: DarkPattern, seed: int = 1, pages: int = 0) -> InjectedScript:
    ((effect,), _) = fault.effects(PAGE, {"pages": pages}, KeyedRng(seed, "r"))
    assert isinstance(effect, Rewrite)
    assert isinstance(effect.edit, InjectedScript)
    return effect.edit


def settings(fault: DarkPattern, seed: int = 1, pages: int = 0) -> dict[str, Any]:
    text = script(fault, seed, pages).script
    return dict(json.JSONDecoder().raw_decode(text, text.index('{"a'))[0])


def test_a_trial_has_one_pattern_in_the_same_words_on_every_page() -> None:
    first, second = settings(DarkPattern()), settings(DarkPattern(), pages=1)

    assert first.pop("report") != second.pop("report")
    assert first == second


def test_left_out_the_seed_chooses_among_all_four() -> None:
    result = {settings(DarkPattern(), seed).get("pattern", "nagging") for seed in range(60)}

    assert result == {"preticked_box", "disguised_ad", "nagging", "sneaked_item"}


def test_an_advertisement_leads_to_a_host_that_nobody_can_register() -> None:
    target = settings(DarkPattern(pattern="disguised_ad"))["target"]

    assert target.removeprefix("https://").rstrip("/") in DarkPattern.own_site.hosts


def test_nagging_repeats_the_given_number_of_times() -> None:
    fields = settings(DarkPattern(pattern="nagging", times=4, every=2))

    assert (fields["times"], fields["every"]) == (4, 2000)


def test_a_pattern_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="pattern"):
        DarkPattern.model_validate({"pattern": "roach_motel"})


def test_the_explanation_names_the_pattern() -> None:
    assert DarkPattern(pattern="nagging").explain() == (
        "is handled by the site, and has a part that steers its user (nagging)"
    )


SNEAK = DarkPattern(pattern="sneaked_item")


def asked(path: str, kind: str = "document", method: str = "GET") -> Exchange:
    return Exchange("1", Request(method, f"https://shop.test{path}", {"sec-fetch-dest": kind}))


def test_a_sneaked_item_reaches_the_shops_pages_and_basket_data() -> None:
    assert not SNEAK.reaches(asked("/checkout"), {})
    _, state = SNEAK.effects(PAGE, {}, KeyedRng(1, "r"))

    assert SNEAK.reaches(asked("/checkout"), state)
    assert SNEAK.reaches(asked("/api/cart", "empty"), state)
    assert not SNEAK.reaches(asked("/api/reviews", "empty"), state)
    assert not SNEAK.reaches(asked("/a.js", "script"), state)
    other = Exchange("1", Request("GET", "https://news.test/cart", {"sec-fetch-dest": "document"}))
    assert not SNEAK.reaches(other, state)
    assert not DarkPattern(pattern="nagging").reaches(asked("/checkout"), {})


def test_an_item_that_was_removed_does_not_come_back() -> None:
    _, state = SNEAK.effects(PAGE, {}, KeyedRng(1, "r"))
    assert not SNEAK.spares(asked("/cart"), state)
    assert SNEAK.noted(state, PAGE, "shown") == state

    state = SNEAK.noted(state, PAGE, "removed")
    assert SNEAK.spares(asked("/cart"), state)
    assert not SNEAK.reaches(asked("/checkout"), state)


def test_a_request_that_removes_the_item_is_answered_without_the_shop() -> None:
    _, state = SNEAK.effects(PAGE, {}, KeyedRng(1, "r"))
    ((edit,), state) = SNEAK.effects(asked("/api/cart", "empty"), state, KeyedRng(1, "r"))
    assert isinstance(edit, Rewrite)
    assert isinstance(edit.edit, AddedItem)

    missing = asked(f"/api/cart/{edit.edit.identity}", "empty", "DELETE")
    ((reply,), state) = SNEAK.effects(missing, state, KeyedRng(1, "r"))
    assert isinstance(reply, Reply)
    assert reply.status == 200
    assert SNEAK.spares(asked("/cart"), state)
