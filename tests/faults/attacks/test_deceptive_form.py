import json
from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults.attacks.deceptive_form import DeceptiveForm
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/", {"sec-fetch-dest": "document"}))


def settings(fault: DeceptiveForm, seed: int = 1, pages: int = 0) -> dict[str, Any]:
    ((effect,), _) = fault.effects(PAGE, {"pages": pages}, KeyedRng(seed, "r"))
    assert isinstance(effect, Rewrite)
    assert isinstance(effect.edit, InjectedScript)
    text = effect.edit.script
    return dict(json.JSONDecoder().raw_decode(text, text.index('{"a'))[0])


def test_a_trial_has_one_form_in_the_same_words_on_every_page() -> None:
    first, second = settings(DeceptiveForm()), settings(DeceptiveForm(), pages=1)

    assert first.pop("report") != second.pop("report")
    assert first == second


def test_left_out_the_seed_chooses_what_is_asked_for() -> None:
    result = {settings(DeceptiveForm(), seed)["add"]["fields"][0][0] for seed in range(40)}

    assert result == {"email", "card", "birthday"}


@pytest.mark.parametrize("form", ["added", "own"])
def test_a_form_leads_to_a_host_that_nobody_can_register(form: Any) -> None:
    target = settings(DeceptiveForm(form=form))["target"]

    assert target.split("/")[2] in DeceptiveForm.own_site.hosts


def test_the_sites_own_form_is_given_no_fields() -> None:
    assert settings(DeceptiveForm(form="own"))["add"] is None


def test_what_is_asked_for_is_refused_where_the_form_is_the_sites_own() -> None:
    with pytest.raises(ValidationError, match="asks is for form: added, and form is own"):
        DeceptiveForm(form="own", asks="card")


def test_the_explanation_names_the_requested_data() -> None:
    words = "is handled by the site, and has one more form, which asks for data (card)"

    assert DeceptiveForm(asks="card").explain() == words
