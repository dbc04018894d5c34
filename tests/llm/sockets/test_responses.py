import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.llm import read_answer
from warex.llm.sockets.responses import ResponsesSocket

API = ResponsesSocket("/v1/responses")
CREATE = {"type": "response.create", "model": "gpt-4.1", "input": "hi"}


def test_a_message_that_asks_is_a_streamed_call() -> None:
    said = API.request(json.dumps(CREATE | {"stream_id": "s1"}).encode())

    assert said is not None
    assert said.request is not None
    assert (said.stream, said.is_call) == ("s1", True)
    assert (said.request.model, said.request.stream) == ("gpt-4.1", True)
    assert said.request.messages == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("sent", "is_call"),
    [(CREATE | {"generate": False}, False), (CREATE | {"model": 3}, True)],
    ids=["only made ready", "of another form"],
)
def test_what_asks_nothing_or_is_not_understood_has_no_request(sent: object, is_call: bool) -> None:
    said = API.request(json.dumps(sent).encode())

    assert said is not None
    assert (said.request, said.is_call) == (None, is_call)


@pytest.mark.parametrize("sent", [{"type": "response.steer"}, {}, []])
def test_other_messages_ask_nothing(sent: object) -> None:
    assert API.request(json.dumps(sent).encode()) is None


@pytest.mark.parametrize(
    ("kind", "is_end"),
    [
        ("response.completed", True),
        ("response.incomplete", True),
        ("response.failed", True),
        ("error", True),
        ("response.output_text.done", False),
        ("response.steer.accepted", False),
    ],
)
def test_an_answer_s_last_message_is_known(kind: str, is_end: bool) -> None:
    event = API.event(json.dumps({"type": kind, "stream_id": "s1"}).encode())

    assert (event.stream, event.is_end) == ("s1", is_end)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"type": "error", "status": 429}, 429),
        ({"type": "error", "status": 200}, 200),
        ({"type": "error", "status": "bad"}, 200),
        ({"type": "error"}, 200),
        ({"type": "response.completed", "status": 500}, 200),
    ],
)
def test_an_error_says_its_status(sent: dict[str, object], status: int) -> None:
    assert API.event(json.dumps(sent).encode()).status == status


def test_a_message_over_several_lines_is_one_event() -> None:
    said = API.request(json.dumps(CREATE).encode())
    assert said is not None
    assert said.request is not None
    delta = {"type": "response.output_text.delta", "delta": "Done."}

    event = API.event(json.dumps(delta, indent=1).encode())
    answer = read_answer(said.request, 200, "", event.content)

    assert answer.text == "Done."


@given(st.binary())
def test_no_message_makes_reading_fail(message: bytes) -> None:
    API.request(message)
    API.event(message)
