import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults.lies.empty_result import EmptyResult
from warex.rewriting.json_body.edit import JsonEdit
from warex.seeds import KeyedRng

ASKED = Exchange("1", Request("GET", "https://shop.test/api", {"sec-fetch-dest": "empty"}))


@pytest.mark.parametrize("at", [None, "/data/items"])
def test_the_given_or_longest_list_is_changed(at: str | None) -> None:
    rng = KeyedRng(1, "r")
    (effects, _) = EmptyResult(at=at).effects(ASKED, {}, rng)

    assert effects == (Rewrite(JsonEdit("emptied", rng, at)),)


def test_the_fault_is_about_data_for_scripts() -> None:
    assert EmptyResult.default_resource == ("xhr",)


def test_an_invalid_pointer_is_refused_in_a_sentence() -> None:
    with pytest.raises(ValidationError, match=r"at(.|\n)*'items' is not a JSON pointer"):
        EmptyResult(at="items")


def test_the_explanation_describes_the_fault() -> None:
    assert "is empty" in EmptyResult().explain()
    assert "'/items'" in EmptyResult(at="/items").explain()
