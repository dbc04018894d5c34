"""A defect has its place in a response, or its injection is unmet."""

import gzip

import pytest
from msgspec.structs import replace

from tests.lane.support.played import answer
from tests.lane.support.states import open_exchange
from tests.lane.test_plan import answered, applied
from warex.effects import AddStrayLine, AnswerDefect, Effect, Malform
from warex.engine.handler import Respond
from warex.engine.http.encoding import decode
from warex.lane.whole_response import WholeResponse

TEXT = b"<p>" + b"words and words " * 2000
PAGE = WholeResponse(*answer(TEXT))
EMPTY = WholeResponse(*answer(b""))


def test_a_response_is_sent_on_with_its_defect() -> None:
    plan, hit = answered(Malform("two_lengths"), of=PAGE)
    assert isinstance(plan.then, Respond)
    assert (plan.then.defect, b"".join(plan.then.pieces)) == ("two_lengths", TEXT)
    assert hit.is_answer


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_coding_breaks_in_the_middle_of_the_body(coding: str) -> None:
    packed = PAGE.with_headers(PAGE.head.headers.with_added("content-encoding", "gzip"))
    effect = Malform("coding", coding)  # type: ignore[arg-type]
    plan, _ = answered(effect, of=packed.with_body(gzip.compress(TEXT)))
    respond = plan.then
    assert isinstance(respond, Respond)
    body = b"".join(respond.pieces)
    assert respond.headers.get("content-encoding") == coding
    assert respond.headers.get("content-length") == str(len(body))
    assert decode(body, coding).error is not None
    assert respond.defect is None


@pytest.mark.parametrize("defect", ["length", "chunk", "coding"])
def test_a_response_without_a_body_has_no_place_for_a_defect_of_one(defect: AnswerDefect) -> None:
    _, hit = answered(Malform(defect), of=EMPTY)
    assert hit.is_unmet


@pytest.mark.parametrize(
    ("effect", "version", "is_unmet"),
    [
        (Malform("frame"), "HTTP/1.1", True),
        (Malform("frame"), "HTTP/2.0", False),
        (AddStrayLine(), "HTTP/2.0", True),
        (Malform("two_lengths"), "HTTP/2.0", True),
        (Malform("status_line"), "HTTP/2.0", False),
    ],
)
def test_a_defect_of_another_version_is_unmet(effect: Effect, version: str, is_unmet: bool) -> None:
    state = open_exchange()
    state.wire.request = replace(state.wire.request, version=version)
    state.draft.response = PAGE
    assert applied(state, effect).is_unmet == is_unmet
    assert (state.draft.defect is None) == is_unmet
