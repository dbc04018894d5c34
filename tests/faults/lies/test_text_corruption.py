import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults.lies.text_corruption import TextCorruption
from warex.rewriting.html_body.script_injection import InjectedScript
from warex.rewriting.html_body.text_edit import TextEdit
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/", {"sec-fetch-dest": "document"}))


def test_a_browser_asks_for_each_page_at_an_address_of_its_own() -> None:
    request = Request("GET", "https://shop.test/", {"user-agent": "Mozilla/5.0 (X11)"})
    fault, rng = TextCorruption(nth=2), KeyedRng(1, "r")
    ((first,), state) = fault.effects(Exchange("1", request), {}, rng)
    ((second,), _) = fault.effects(Exchange("2", request), state, rng)

    assert isinstance(first, Rewrite)
    assert isinstance(second, Rewrite)
    assert isinstance(first.edit, InjectedScript)
    assert first.edit.answers == TextEdit("price", rng, 2, 1)
    assert first.edit.report != second.edit.report


def test_the_given_text_is_changed() -> None:
    rng = KeyedRng(1, "r")
    effects, _ = TextCorruption(value="date", nth=2, count=3).effects(PAGE, {}, rng)

    assert effects == (Rewrite(TextEdit("date", rng, 2, 3)),)


@pytest.mark.parametrize("fields", [{"nth": 0}, {"count": 1001}, {"value": "colour"}, {"nth": "2"}])
def test_impossible_parameters_are_refused_by_name(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(fields))):
        TextCorruption.model_validate(fields)


def test_the_explanation_has_the_faults_values() -> None:
    assert "price 1 from the top is false" in TextCorruption().explain()
    assert (
        "date 2 from the top and the next 2"
        in TextCorruption(value="date", nth=2, count=3).explain()
    )
