import pytest

from warex.rewriting.html_body.text_kinds import matches_of, other
from warex.seeds import KeyedRng


def test_every_value_of_a_kind_is_found() -> None:
    text = "$1, 2 USD &pound;3 4 and \u20ac5"

    assert [it[0] for it in matches_of("price", text)] == ["$1", "2 USD", "&pound;3", "\u20ac5"]


@pytest.mark.parametrize(("text", "put"), [("13/02/2027", "14/02/2027"), ("02/12/27", "02/11/27")])
def test_an_ambiguous_date_changes_its_likely_day(text: str, put: str) -> None:
    (match,) = matches_of("date", text)

    assert other("date", match, KeyedRng(1, "r")) == put


def test_a_name_becomes_another_one() -> None:
    (match,) = matches_of("name", "Anna Miller")

    names = {other("name", match, KeyedRng(seed, "r")) for seed in range(40)}
    assert len(names) == 7
    assert "Anna Miller" not in names
