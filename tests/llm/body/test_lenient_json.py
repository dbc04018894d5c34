import pytest
from pydantic import JsonValue

from warex.llm.body.lenient_json import (
    as_count,
    as_dict,
    as_list,
    as_text,
    as_tokens,
    has_too_many_values,
    parse_json,
    parse_object,
)


def test_wrong_types_read_as_nothing() -> None:
    assert as_dict([1]) == {}
    assert as_list({"a": 1}) == []
    assert as_text(3) == ""
    assert [as_count(v) for v in (True, -4, "7", 1.5, None)] == [0, 0, 0, 0, 0]
    assert as_count(7) == 7


def test_half_a_surrogate_pair_is_replaced_and_whole_ones_stay() -> None:
    assert parse_json(rb'"a\ud83d b\ud83d\ude00 \\ud83d"') == "a\ufffd b\U0001f600 \\ud83d"


@pytest.mark.parametrize("body", [b"", b"NaN", b"{} {}", b"[" * 100_000])
def test_rubbish_is_a_value_error(body: bytes) -> None:
    with pytest.raises(ValueError, match="line 1"):
        parse_json(body)


def test_a_cut_object_is_read_as_far_as_it_goes() -> None:
    assert parse_json(b'{"a": [1, 2], "b": "hel', cut=True) == {"a": [1, 2], "b": "hel"}


def test_a_number_of_tokens_is_whole_and_at_least_0() -> None:
    assert [as_tokens(value) for value in (None, 0, 7, 7.0, 10**12)] == [0, 0, 7, 7, 10**12]
    wrong: list[JsonValue] = [-1, 10**30, 1.5, 1e30, float("inf"), True, "7", [], {}]
    for value in wrong:
        assert as_tokens(value) + 10**12 < 0


@pytest.mark.parametrize("value", [b'{"a":1}', b"[]", b"1," * 7 + b"1"])
def test_json_of_too_many_values_is_not_read(value: bytes) -> None:
    body = b"[" + b",".join([value] * 310_000) + b"]"
    with pytest.raises(ValueError, match="more than 300,000"):
        parse_json(body)


@pytest.mark.parametrize(
    "text", [b"x", b"word, and word. ", b'{\\"id\\": 7, \\"name\\": \\"a long name of it\\"}\\n']
)
def test_a_long_text_is_read(text: bytes) -> None:
    body = b'{"content":"' + text * (4_000_000 // len(text)) + b'"}'
    assert not has_too_many_values(body)
    assert len(as_text(parse_object(body)["content"])) > 3_000_000
