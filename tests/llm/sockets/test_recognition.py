import pytest

from warex.llm.recognition.unrecognised import NO_SUCH_API
from warex.llm.sockets.live import LiveSocket
from warex.llm.sockets.realtime import RealtimeSocket
from warex.llm.sockets.recognition import carries_calls, socket_api, unreadable_socket_reason
from warex.llm.sockets.responses import ResponsesSocket

SOCKET: dict[str, str] = {"upgrade": "websocket"}
PAGES = SOCKET | {"origin": "https://shop.example"}
EXTENSIONS = SOCKET | {"origin": "chrome-extension://abc"}


@pytest.mark.parametrize(
    ("host", "path", "headers", "carries"),
    [
        ("gateway.example", "/v1/responses", SOCKET, True),
        ("gateway.example", "/openai/v1/responses?api-version=preview", SOCKET, True),
        ("gateway.example", "/v1/responses", PAGES, False),
        ("gateway.example", "/v1/responses", EXTENSIONS, True),
        ("api.openai.com", "/v1/responses", PAGES, True),
        ("api.openai.com", "/v1/realtime", SOCKET, True),
        ("api.openai.com", "/v1/realtime", PAGES, True),
        ("shop.example", "/v1/realtime", PAGES, False),
        ("shop.example", "/realtime", SOCKET, False),
        ("shop.example", "/ws", SOCKET, False),
    ],
)
def test_a_program_s_socket_to_responses_carries_calls(
    host: str, path: str, headers: dict[str, str], carries: bool
) -> None:
    assert carries_calls(host, path, headers) == carries


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


@pytest.mark.parametrize(
    ("path", "reader"),
    [
        ("/v1/responses?a=b", ResponsesSocket),
        ("/v1/realtime?model=gpt-realtime", RealtimeSocket),
        ("/openai/realtime?deployment=mine", RealtimeSocket),
        (
            "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent",
            LiveSocket,
        ),
        ("/ws/google.cloud.aiplatform.v1beta1.LlmBidiService/BidiGenerateContent", LiveSocket),
    ],
)
def test_the_path_says_which_api_it_is(path: str, reader: type[object]) -> None:
    assert carries_calls("gateway.example", path, SOCKET)
    assert isinstance(socket_api(path), reader)
