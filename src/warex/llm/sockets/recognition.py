"""Which WebSockets carry calls to a model, and the API that reads each."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from warex.llm.families.of_sockets import GeminiLive, OpenAiRealtime
from warex.llm.families.openai_responses import OpenAiResponses
from warex.llm.recognition.browser_origin import is_browser_request, is_site_request
from warex.llm.recognition.hosts import is_known_llm_host
from warex.llm.recognition.unrecognised import NO_SUCH_API
from warex.llm.sockets.base import SocketApi
from warex.llm.sockets.live import LiveSocket
from warex.llm.sockets.realtime import RealtimeSocket
from warex.llm.sockets.responses import ResponsesSocket

_APIS: Final[Mapping[str, Callable[[str], SocketApi]]] = {
    **dict.fromkeys(OpenAiResponses.path_endings, ResponsesSocket),
    **dict.fromkeys(OpenAiRealtime.path_endings, RealtimeSocket),
    **dict.fromkeys(GeminiLive.path_endings, LiveSocket),
}
"""By the endings of their paths."""


def carries_calls(
    host: str, path: str, headers: Mapping[str, str], llm_hosts: Iterable[str] = ()
) -> bool:
    """Whether a WebSocket may carry LLM calls of the agent (``is_site_request`` excludes a page's).

    ``headers`` have names in lower case.
    """
    ours = path.partition("?")[0].endswith(tuple(_APIS))
    return ours and not is_site_request(host, headers, llm_hosts)


def socket_api(path: str) -> SocketApi:
    """Return what reads the messages of a WebSocket that ``carries_calls``."""
    where = path.partition("?")[0]
    return next(api for ending, api in _APIS.items() if where.endswith(ending))(path)


def unreadable_socket_reason(host: str, headers: Mapping[str, str]) -> str | None:
    """Return why calls on a WebSocket that ``carries_calls`` rejects are unreadable, or None."""
    return NO_SUCH_API if is_known_llm_host(host) and not is_browser_request(headers) else None
