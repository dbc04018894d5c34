import pytest
from pydantic import ValidationError

from warex.effects import Rewrite
from warex.exchange import Exchange, Request
from warex.faults import TextCorruption
from warex.rewriting.text_edit import TextEdit
from warex.seeds import Luck

PAGE = Exchange("1", Request("GET", "https://shop.test/", {"sec-fetch-dest": "document"}))


def test_it_changes_what_it_is_told() -> None:
    luck = Luck(1, "r")
    effects, _ = TextCorruption(value="date", nth=2, count=3).effects(PAGE, {}, luck)

    assert effects == (Rewrite(TextEdit("date", luck, 2, 3)),)


@pytest.mark.parametrize("given", [{"nth": 0}, {"count": 1001}, {"value": "colour"}, {"nth": "2"}])
def test_what_it_cannot_do_is_refused_by_name(given: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(given))):
        TextCorruption.model_validate(given)


def test_it_explains_itself_with_its_values() -> None:
    assert "price 1 from the top is false" in TextCorruption().explain()
    assert (
        "date 2 from the top and the next 2"
        in TextCorruption(value="date", nth=2, count=3).explain()
    )
