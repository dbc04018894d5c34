"""What a terminal or a browser would obey is shown as a sign."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from warex.text.escaping import (
    escape_controls,
    escape_controls_in_json,
    escape_surrogates,
    in_backticks,
)


def test_a_control_character_is_shown_as_a_sign() -> None:
    assert (
        escape_controls("a\x1b[31mb\x07\x7f\x9b\u202e\r\n\t\ud800")
        == "a␛[31mb␇␡\ufffd\ufffd␍\n\t\ufffd"
    )


def test_a_pattern_is_shown_as_it_was_written() -> None:
    assert in_backticks(r"^https://shop\.example/'a'") == r"`^https://shop\.example/'a'`"
    assert in_backticks("a\x1b") == "`a␛`"


def test_a_lone_surrogate_is_written_as_its_escape() -> None:
    assert escape_surrogates("é\udcff\n😀") == "é\\udcff\n😀"


@given(text=st.text())
def test_control_characters_are_escaped_and_text_is_kept(text: str) -> None:
    shown = escape_controls(text)

    assert len(shown) == len(text)
    assert all(unicodedata.category(c) != "Cc" or c in "\n\t" for c in shown)
    assert all(unicodedata.bidirectional(c) not in BIDI for c in shown)


BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(data=st.dictionaries(st.text(), st.text()))
def test_json_says_the_same_as_before(data: dict[str, str]) -> None:
    text = json.dumps(data, ensure_ascii=False, indent=2)

    assert json.loads(escape_controls_in_json(text)) == data
    assert escape_controls(escape_controls_in_json(text)) == escape_controls_in_json(text)
