import json

import pytest

from warex.llm.families.reading import FinishReasons
from warex.llm.families.writing import (
    api_finish_reason,
    json_answer,
    lines,
    parse_arguments,
    sse,
    word_chunks,
)


def test_header_arguments_with_underscores_become_hyphens() -> None:
    answer = json_answer({"error": "é"}, 429, retry_after="1")

    assert answer.status == 429
    assert answer.headers == {"content-type": "application/json", "retry-after": "1"}
    assert json.loads(answer.body) == {"error": "é"}


def test_an_event_is_named_by_its_type_where_the_api_names_events() -> None:
    assert sse([{"a": 1}], end="data: [DONE]\n\n").body == b'data: {"a": 1}\n\ndata: [DONE]\n\n'
    assert sse([{"type": "x"}], named=True).body == b'event: x\ndata: {"type": "x"}\n\n'


def test_a_stream_of_json_has_a_value_on_each_line() -> None:
    assert lines([{"a": 1}, {"b": "é"}]).body.decode() == '{"a": 1}\n{"b": "é"}\n'


@pytest.mark.parametrize("text", ["", " ", "one", " one  two\nthree ", "\n"])
def test_the_pieces_of_a_text_are_together_the_text(text: str) -> None:
    assert "".join(word_chunks(text)) == text


def test_arguments_that_break_off_are_what_there_is_of_them() -> None:
    assert parse_arguments('{"a": 1, "b": "tw') == {"a": 1, "b": "tw"}
    assert parse_arguments("no object") == {}


def test_an_apis_word_for_an_end_is_the_first_that_means_it() -> None:
    reasons: FinishReasons = {"end": "stop", "done": "stop", "full": "length", "limit": "length"}
    assert api_finish_reason("length", reasons) == "full"


def test_an_end_without_a_word_of_the_api_has_its_usual_one() -> None:
    assert api_finish_reason("error", {"end": "stop", "full": "length"}) == "end"
