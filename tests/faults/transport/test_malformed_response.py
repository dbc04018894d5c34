from typing import get_args

import pytest
from pydantic import ValidationError

from warex.effects import AddStrayLine, AnswerDefect, Malform
from warex.exchange import Exchange, Request
from warex.faults.transport.malformed_response import MalformedResponse
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/"))


def test_each_defect_is_unreadable_except_a_stray_line() -> None:
    for defect in get_args(AnswerDefect.__value__):
        fault = MalformedResponse(defect=defect)
        assert fault.effects(PAGE, {}, KeyedRng(1, "r"))[0] == (Malform(defect),)
        assert not fault.keeps_answer
    stray = MalformedResponse(defect="header")
    assert stray.effects(PAGE, {}, KeyedRng(1, "r"))[0] == (AddStrayLine(),)
    assert stray.keeps_answer


def test_a_coding_goes_with_the_defect_of_one() -> None:
    assert MalformedResponse(defect="coding").coding == "gzip"
    assert MalformedResponse(defect="coding", coding="zstd").coding == "zstd"
    with pytest.raises(ValidationError, match=r"coding br and defect: chunk do not go together"):
        MalformedResponse(defect="chunk", coding="br")
    with pytest.raises(ValidationError, match=r"coding null and defect: coding do not go together"):
        MalformedResponse(defect="coding", coding=None)


def test_a_defect_or_coding_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match=r"defect\n.*'status_line', 'header'"):
        MalformedResponse.model_validate({"defect": "headers"})
    with pytest.raises(ValidationError, match=r"coding(.|\n)*'gzip', 'br' or 'zstd'"):
        MalformedResponse.model_validate({"defect": "coding", "coding": "deflate"})


def test_what_the_client_meets_is_reported() -> None:
    assert MalformedResponse(defect="coding", coding="br").explain() == (
        "is handled by the site and then sent on in the content coding br, which breaks in its"
        " middle"
    )
    assert MalformedResponse().explain().endswith("sent on with an invalid status line")
