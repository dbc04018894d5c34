from math import inf, nan

from warex.exports.interchange.strict_json import encode_strictly, sanitize


def test_a_number_that_json_has_no_word_for_is_null() -> None:
    assert encode_strictly({"a": [nan, inf, 1.5, "NaN"]}) == b'{"a": [null, null, 1.5, "NaN"]}'


def test_a_lone_surrogate_is_escaped() -> None:
    assert encode_strictly("\ud800") == b'"\\ud800"'


def test_sanitized_json_has_neither_nan_nor_lone_surrogates() -> None:
    assert sanitize({"\ud800": [nan, "a\udfffb", "Δ"]}) == {"?": [None, "a?b", "Δ"]}
