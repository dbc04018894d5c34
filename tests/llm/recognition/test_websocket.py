import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.llm import read_answer
from warex.llm.recognition.unrecognised import NO_SUCH_API
from warex.llm.recognition.websocket import (
    as_sse,
    parse_event,
    parse_request,
    unreadable_socket_reason,
)

PATH = "/v1/responses"
SOCKET: dict[str, str] = {"upgrade": "websocket"}
PAGES = SOCKET | {"origin": "https://shop.example"}
EXTENSIONS = SOCKET | {"origin": "chrome-extension://abc"}
CREATE = {"type": "response.create", "model": "gpt-4.1", "input": "hi"}


@pytest.mark.parametrize(
    ("host", "headers", "why"),
    [
        ("api.openai.com", SOCKET, NO_SUCH_API),
        ("api.openai.com", PAGES, None),
        ("api.openai.com", EXTENSIONS, NO_SUCH_API),
        ("shop.example", SOCKET, None),
    ],
)
def test_another_socket_to_a_known_host_is_unread(
    host: str, headers: dict[str, str], why: str | None
) -> None:
    assert unreadable_socket_reason(host, headers) == why


def test_a_message_that_asks_is_a_streamed_call() -> None:
    request = parse_request(PATH, json.dumps(CREATE | {"stream_id": "s1"}).encode())

    assert request is not None
    assert request.request is not None
    assert (request.stream, request.is_call) == ("s1", True)
    assert (request.request.model, request.request.stream) == ("gpt-4.1", True)
    assert request.request.messages == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("sent", "is_call"),
    [(CREATE | {"generate": False}, False), (CREATE | {"model": 3}, True)],
    ids=["only made ready", "of another form"],
)
def test_what_asks_nothing_or_is_not_understood_has_no_request(sent: object, is_call: bool) -> None:
    request = parse_request(PATH, json.dumps(sent).encode())

    assert request is not None
    assert (request.request, request.is_call) == (None, is_call)


@pytest.mark.parametrize("sent", [{"type": "response.steer"}, {}, []])
def test_other_messages_ask_nothing(sent: object) -> None:
    assert parse_request(PATH, json.dumps(sent).encode()) is None


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
    event = parse_event(json.dumps({"type": kind, "stream_id": "s1"}).encode())

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
    assert parse_event(json.dumps(sent).encode()).status == status


def test_a_message_over_several_lines_is_one_event() -> None:
    request = parse_request(PATH, json.dumps(CREATE).encode())
    assert request is not None
    assert request.request is not None
    delta = {"type": "response.output_text.delta", "delta": "Done."}

    answer = read_answer(request.request, 200, "", as_sse(json.dumps(delta, indent=1).encode()))

    assert answer.text == "Done."


@given(st.binary())
def test_no_message_makes_reading_fail(message: bytes) -> None:
    parse_request(PATH, message)
    parse_event(message)
    as_sse(message)
