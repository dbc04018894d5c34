import pytest

from warex_testbed.sites.shop.forms import (
    Problems,
    read_address,
    read_delivery,
    read_payment,
    read_quantity,
    read_question,
    read_review,
)
from warex_testbed.sites.shop.seed import brand

VOLTLINE, PANTRY, FELL = (brand(f"{each}.warex.test") for each in ("shop", "market", "outfitters"))
ADDRESS = {"name": "A", "street": "B 1", "city": "C", "postcode": "10115"}
CARD = {"payment": "Credit card", "card_number": "4000 1234 5678 9010", "card_code": "123"}


def test_every_brand_has_postcodes_of_its_own() -> None:
    assert read_address(ADDRESS, VOLTLINE).postcode == "10115"
    assert read_address(ADDRESS | {"postcode": " bs1 4qa"}, PANTRY).postcode == "BS1 4QA"
    assert read_address(ADDRESS | {"postcode": "97209-0001"}, FELL).postcode == "97209-0001"
    with pytest.raises(Problems, match="Enter a postcode like BS1 4QA"):
        read_address(ADDRESS, PANTRY)


def test_all_missing_fields_of_an_address_are_reported() -> None:
    with pytest.raises(Problems) as wrong:
        read_address({"phone": "call me"}, VOLTLINE)
    assert set(wrong.value.sentences) == {"name", "street", "city", "postcode", "phone"}
    with pytest.raises(Problems, match="At most 120"):
        read_address(ADDRESS | {"name": "x" * 121}, VOLTLINE)


def test_only_the_last_digits_of_a_card_are_kept() -> None:
    paid = read_payment(CARD | {"card_expiry": "06/26"}, VOLTLINE)
    assert paid == "Credit card ending in 9010"
    assert read_payment({"payment": "Invoice"}, VOLTLINE) == "Invoice"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"payment": "Shells"}, "Choose how you want to pay."),
        ({"card_number": "1234"}, "16 digits"),
        ({"card_expiry": "05/26"}, "expired"),
        ({"card_expiry": "13/30"}, "MM/YY"),
        ({"card_code": "12"}, "security code"),
    ],
)
def test_a_card_that_cannot_be_right_is_refused(fields: dict[str, str], says: str) -> None:
    with pytest.raises(Problems, match=says):
        read_payment(CARD | {"card_expiry": "06/26"} | fields, VOLTLINE)


def test_a_delivery_is_one_of_those_offered() -> None:
    assert read_delivery({"delivery": "Ground"}, FELL) == "Ground"
    with pytest.raises(Problems):
        read_delivery({"delivery": "Ground"}, VOLTLINE)


def test_a_review_needs_stars_title_and_text() -> None:
    assert read_review({"stars": "4", "title": " A ", "text": "B"}).title == "A"
    with pytest.raises(Problems) as wrong:
        read_review({"stars": "6"})
    assert set(wrong.value.sentences) == {"stars", "title", "text"}


def test_an_empty_question_is_refused() -> None:
    assert read_question({"text": " Why? "}) == "Why?"
    with pytest.raises(Problems):
        read_question({"text": "  "})


def test_a_quantity_is_a_whole_number() -> None:
    assert [read_quantity({"quantity": text}) for text in ("3", 3, "0", "-1", "1.5", "x")] == [
        3, 3, 0, -1, -1, -1,
    ]  # fmt: skip
    assert read_quantity({}) == 1
