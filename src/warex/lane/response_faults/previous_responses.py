"""Replays an earlier response of a site, or requests another of its pages."""

from collections.abc import Iterable
from typing import Final, NamedTuple, override

from warex.engine.http.heads import ResponseHead
from warex.exchange import Request, Resource
from warex.lane.response_faults.stream_rewriter import BodyReader
from warex.lane.whole_response import WholeResponse
from warex.scenarios import Rule
from warex.traces import ChangedValue

_MOST_PAGES: Final = 50
_MOST_ANSWERS: Final = 64
_MAX_BODY: Final = 2 * 1024 * 1024
"""Bytes of a response that may be replayed."""
_KINDS: Final = ("document", "xhr")

type TaskKey = tuple[str, int]
"""The name and seed of a task: tasks do not share responses."""


class _Answer(NamedTuple):
    exchange: str
    response: WholeResponse


class ResponseCopy(BodyReader):
    """The site's response so far, if it may be replayed."""

    def __init__(self, head: ResponseHead) -> None:
        self._head, self._body = head, bytearray()
        self._is_too_long = False

    @override
    def read(self, data: bytes) -> None:
        self._is_too_long |= len(self._body) + len(data) > _MAX_BODY
        if self._is_too_long:
            self._body.clear()
        else:
            self._body += data

    def response(self) -> WholeResponse | None:
        """Return the complete response; None if it is too long to be kept."""
        return None if self._is_too_long else WholeResponse(self._head, bytes(self._body))


class PreviousResponses:
    """The first response of each URL and the pages of each host, if a rule's fault needs them."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        given_again = {rule.fault.gives_again for rule in rules}
        self._wants_pages = "page" in given_again
        self._wants_answers = "answer" in given_again
        self.wanted = self._wants_pages or self._wants_answers
        """Whether any rule's fault needs what is kept here."""
        self._pages: dict[tuple[TaskKey, str], list[str]] = {}
        """The paths of the pages of each host."""
        self._answers: dict[tuple[TaskKey, str], _Answer] = {}

    def reader(
        self, task: TaskKey, request: Request, resource: Resource, head: ResponseHead
    ) -> ResponseCopy | None:
        """Return a copier of a site's streamed response that may be replayed."""
        if not self._wants_answers or not _is_page_or_data(request, resource, head):
            return None
        is_known = (task, request.url) in self._answers
        return None if is_known or len(self._answers) >= _MOST_ANSWERS else ResponseCopy(head)

    def note_complete(
        self,
        task: TaskKey,
        exchange: str,
        request: Request,
        resource: Resource,
        head: ResponseHead,
        path: str,
        copy: ResponseCopy | None,
    ) -> None:
        """Keep a response of the site that the client has read, and its page.

        ``path``: of the request that the site got, with its query; empty if it is another page's.
        """
        if not _is_page_or_data(request, resource, head):
            return
        if copy is not None and (response := copy.response()) is not None:
            self._answers.setdefault((task, request.url), _Answer(exchange, response))
        if self._wants_pages and request.is_top_level and path:
            pages = self._pages.setdefault((task, request.parts.netloc), [])
            if path not in pages and len(pages) < _MOST_PAGES:
                pages.append(path)

    def other_page(
        self, task: TaskKey, request: Request, path: str, draw: float
    ) -> ChangedValue | None:
        """Return the change of a request's path to another page's; None if none is known."""
        known = self._pages.get((task, request.parts.netloc), ())
        pages = [it for it in known if it != path]
        if not pages or request.method != "GET":
            return None
        return ChangedValue(where="page", before=path, after=pages[int(draw * len(pages))])

    def first_response(
        self, task: TaskKey, request: Request
    ) -> tuple[WholeResponse, ChangedValue] | None:
        """Return the site's first response to the same request; None if none is kept."""
        answer = self._answers.get((task, request.url))
        if answer is None or request.method != "GET":
            return None
        response = answer.response
        # An old cookie may end the current session.
        headers = response.head.headers.without("set-cookie", "transfer-encoding", "content-length")
        headers = headers.with_field("content-length", str(len(response.body)))
        headers = headers.with_field("cache-control", "no-store")
        change = ChangedValue(where="answer", before="", after=answer.exchange)
        return response.with_headers(headers), change


def _is_page_or_data(request: Request, resource: Resource, head: ResponseHead) -> bool:
    """Whether a response is of status 200, to a GET of a document or XHR."""
    return head.status == 200 and request.method == "GET" and resource in _KINDS
