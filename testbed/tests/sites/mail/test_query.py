import pytest

from tests.sites.mail.client import HOSTS
from warex_testbed.sites.mail.query import Term, compose, parse, search
from warex_testbed.sites.mail.seed import fresh


def matching_people(line: str, host: str = HOSTS[0]) -> set[str]:
    return {message.subject for message in search(fresh(host), line)}


def test_words_phrases_operators_and_opposites_are_distinguished() -> None:
    assert parse('from:Ana "two words" -is:read label:"Hiking club" at:noon') == [
        Term("ana", "from"),
        Term("two words"),
        Term("read", "is", negated=True),
        Term("hiking club", "label"),
        Term("at:noon"),
    ]


@pytest.mark.parametrize(
    ("line", "subjects"),
    [
        ("gate code", {"Site visit on Friday"}),
        ('"summer party"', {"Summer party: who brings what"}),
        (
            "from:jonas is:unread -in:quay7",
            {"Bracket loads, first numbers", "Holiday from 20 July"},
        ),
        ("has:attachment from:jonas", {"Bracket loads, first numbers"}),
        ("label:family before:2026-06-08", {"My seventieth"}),
        ("after:2026-06-09 subject:visit", {"Site visit on Friday"}),
        ("in:spam from:ivo", {"Quotation for the stair lights"}),
        ("quotation", set()),
        ("is:starred", {"Site visit on Friday"}),
        ("to:sofia", {"Drawings of the garage deck"}),
        ("cc:priya in:sent", {"Re: Quay 7: facade options"}),
        ('in:"quay 7" is:read', {"Contract signed"}),
        ("before:yesterday", set()),
        ("   ", set()),
    ],
)
def test_a_line_finds_what_it_says(line: str, subjects: set[str]) -> None:
    assert matching_people(line) == subjects


def test_a_folder_is_known_by_what_the_brand_calls_it() -> None:
    assert matching_people("in:wastebasket", HOSTS[1]) == {"Festival on the moon"}


def test_the_form_writes_the_line() -> None:
    fields = {"from": "ana", "subject": "two words", "words": "x", "attachment": "on", "in": ""}
    assert compose(fields) == 'from:ana subject:"two words" x has:attachment'
