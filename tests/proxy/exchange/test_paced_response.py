import gzip
from typing import Any

import pytest
from mitmproxy.test import tflow

from warex.proxy.exchange.paced_response import PacedResponse, paced_response_of, trickle, truncate

EVENTS = [b'data: {"n": %d}\n\n' % number for number in range(4)]


def flow(body: bytes, **headers: str) -> Any:
    made: Any = tflow.tflow(resp=True)
    made.response.headers.clear()
    for name, value in headers.items():
        made.response.headers[name.replace("_", "-")] = value
    made.response.raw_content = body
    return made


def sending(made: Any) -> PacedResponse:
    found = paced_response_of(made)
    assert found is not None
    return found


def test_an_answer_that_no_fault_is_about_goes_as_it_is() -> None:
    assert paced_response_of(flow(b"hello")) is None


def test_a_streams_pieces_are_its_events() -> None:
    made = flow(b"".join(EVENTS), content_type="text/event-stream")

    trickle(made, 0.5)

    assert sending(made) == PacedResponse(EVENTS, pause=0.5)


def test_a_compressed_answer_is_divided_as_what_it_is() -> None:
    body = gzip.compress(b"".join(EVENTS))
    made = flow(body, content_type="text/event-stream", content_encoding="gzip")

    trickle(made, 0.5)

    assert sending(made).pieces == EVENTS
    assert "content-encoding" not in made.response.headers


@pytest.mark.parametrize(
    ("share", "kept"), [(0.0, 1), (0.25, 1), (0.5, 2), (0.74, 2), (0.75, 3), (0.99, 3)]
)
def test_at_least_the_first_piece_comes_and_never_the_last(share: float, kept: int) -> None:
    made = flow(b"".join(EVENTS), content_type="text/event-stream")

    truncate(made, share, "close")

    assert sending(made) == PacedResponse(EVENTS[:kept], cut="close")


def test_an_answer_that_ends_in_good_order_has_the_length_of_what_comes() -> None:
    body = b"0123456789abcdef" * 2
    made = flow(body, content_type="application/json", content_length="32")

    truncate(made, 0.5, "clean")

    assert b"".join(sending(made).pieces) == body[:16]
    assert sending(made).cut is None
    assert made.response.headers["content-length"] == "16"


def test_both_may_be_done_to_one_answer() -> None:
    made = flow(b"".join(EVENTS), content_type="text/event-stream")

    trickle(made, 0.5)
    truncate(made, 0.5, "reset")

    assert sending(made) == PacedResponse(EVENTS[:2], pause=0.5, cut="reset")
