"""Tokens of one call are captured where its server sends them in the clear."""

import gzip
import json

from tests.lane.support.traffic import Noted, response_head
from tests.lane.traffic.test_llm import BODY, asked, asks
from warex.lane.traffic.base import Ending
from warex.lane.traffic.llm import LlmTraffic
from warex.lane.whole_response import WholeResponse
from warex.traces import LlmCall
from warex.traffic import TrafficOptions


def capturing() -> tuple[Noted, LlmTraffic]:
    noted = Noted(traffic=TrafficOptions(capture_tokens=("*.test",)))
    return noted, asks(noted)


def test_the_server_is_asked_for_plain_bytes_and_for_tokens() -> None:
    _, call = capturing()
    head = asked(accept_encoding="gzip, br", content_encoding="gzip")
    assert call.prepare_head(head).headers.get("accept-encoding") == "identity"
    sent = json.loads(gzip.decompress(call.prepare(head, gzip.compress(BODY))))
    assert sent == {**json.loads(BODY), "logprobs": True, "return_token_ids": True}


def test_a_compressed_answer_passes_unchanged() -> None:
    noted, call = capturing()
    call.prepare(asked(), BODY)
    head = response_head(content_type="application/json", content_encoding="gzip")
    call.answered(head)
    response = WholeResponse(head, gzip.compress(b"{}"))
    assert not call.needs_whole_response
    assert call.as_asked(response) is response
    assert call.feed(response.body) == response.body
    call.end(Ending(head=head, began=True))
    (event,) = noted.events(LlmCall)
    assert event.tokens_error == (
        "the answer is compressed (gzip), though plain bytes were asked for"
    )


def test_without_the_option_nothing_is_asked() -> None:
    call = asks(Noted())
    head = asked(accept_encoding="gzip")
    assert call.prepare_head(head) is head
    assert call.prepare(head, BODY) == BODY
