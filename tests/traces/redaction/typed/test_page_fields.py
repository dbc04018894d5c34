from time import monotonic

import pytest

from warex.traces.redaction.typed.page_fields import password_fields


@pytest.mark.parametrize(
    ("page", "fields"),
    [
        (b"<input type=password name=f2>", {"f2"}),
        (b"<INPUT NAME='f2' TYPE='PASSWORD' id=\"x9\">", {"f2", "x9"}),
        (b"<input name=f2 autocomplete='section-a one-time-code'>", {"f2"}),
        (b'<input type="password" aria-label="Mot secret &amp; cl&eacute;">', {"Mot secret & clé"}),
        (b"<input type=text name=f2>", set()),
        (b"<input type=password name=f2><input type=text name=f2 id=f3>", set()),
        (b"<input type=password name=email>", set()),
        (b"<p>type=password</p><input name=f2>", set()),
    ],
)
def test_a_page_says_which_fields_are_for_passwords(page: bytes, fields: set[str]) -> None:
    assert password_fields(b"<form>" + page) == fields


def test_a_hostile_page_gives_a_bounded_number_of_fields_soon() -> None:
    page = b"".join(b"<input type=password name=f%d>" % number for number in range(9000))
    began = monotonic()

    assert len(password_fields(page)) <= 33
    assert password_fields(b"<input " * 70_000 + b"type=password") == set()
    assert monotonic() - began < 30


def test_a_name_in_another_field_is_not_a_password() -> None:
    page = b"<input name=f2 type=text>%s<input type=password name=f2 id=k7>" % (b"<p>f2 " * 20)
    assert password_fields(page) == {"k7"}


def test_a_name_that_the_page_uses_everywhere_is_left_out() -> None:
    assert password_fields(b"<input type=password name=f2>" + b"<p>f2" * 900) == set()
