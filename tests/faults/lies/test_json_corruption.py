from typing import Any

import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults.lies.json_corruption import JsonCorruption
from warex.rewriting.json_body.edit import JsonEdit
from warex.seeds import KeyedRng

ASKED = Exchange("1", Request("GET", "https://shop.test/api", {"sec-fetch-dest": "empty"}))


def edit(fault: JsonCorruption, seed: int = 1) -> JsonEdit:
    ((effect,), _) = fault.effects(ASKED, {}, KeyedRng(seed, "r"))
    assert isinstance(effect, Rewrite)
    assert isinstance(effect.edit, JsonEdit)
    return effect.edit


def test_the_fault_changes_data_in_the_sites_own_answer() -> None:
    assert JsonCorruption.default_resource == ("xhr",)
    assert JsonCorruption().rewrites


def test_parameters_reach_the_edit() -> None:
    by_kind = edit(JsonCorruption(value="date", how="swapped", count=3))
    by_place = edit(JsonCorruption(at="/items/0/a~1b"))

    assert (by_kind.kind, by_kind.at, by_kind.how, by_kind.count) == ("date", None, "swapped", 3)
    assert (by_place.kind, by_place.at, by_place.how) == (None, "/items/0/a~1b", "off_by_one")


def test_one_seed_gives_the_same_lie_and_another_seed_another() -> None:
    text = '{"prices": [' + ", ".join(str(price) for price in range(100, 200)) + "]}"

    def lie(seed: int) -> Any:
        return edit(JsonCorruption(), seed).pieces(text, "GET https://shop.test/api")

    assert lie(3) == lie(3)
    assert len({str(lie(seed)) for seed in range(10)}) > 5


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"at": "items/0"}, "at(.|\n)*'items/0' is not a JSON pointer: it begins with '/'"),
        ({"at": "/a~"}, "at(.|\n)*'/a~' is not a JSON pointer: '~' is written ~0"),
        ({"at": "/a", "value": "price"}, "value(.|\n)*'/a' says which value it is"),
        ({"value": None}, "value(.|\n)*which kind of value"),
        ({"value": "prize"}, "value(.|\n)*'price'"),
        ({"how": "emptied"}, "how(.|\n)*'off_by_one'"),
        ({"count": 0}, "count"),
    ],
)
def test_impossible_parameters_are_refused_in_a_sentence(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(ValidationError, match=text):
        JsonCorruption.model_validate(fields)


def test_the_explanation_has_the_faults_values() -> None:
    begin = "is handled by the site, and answered with JSON in which "
    assert JsonCorruption().explain() == f"{begin}a price is one off"
    assert JsonCorruption(at="/a", how="nulled").explain() == f"{begin}the value at '/a' is null"
    assert JsonCorruption(value="name", count=2, how="swapped").explain() == (
        f"{begin}up to 2 of kind name is the value of another record"
    )
