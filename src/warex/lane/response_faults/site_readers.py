"""What is read of a site's response on its way, for the faults and pages that come after it."""

from warex.engine.http.heads import ResponseHead
from warex.exchange import Request, Resource
from warex.lane.response_faults.password_pages import page_reader, read_page
from warex.lane.response_faults.previous_responses import (
    PreviousResponses,
    ResponseCopy,
    TaskKey,
)
from warex.lane.response_faults.rewritten_pages import RewrittenPages
from warex.lane.response_faults.site_looks import SiteLooks
from warex.lane.response_faults.stream_rewriter import StreamedRewriter
from warex.lane.whole_response import WholeResponse
from warex.traces.redaction.redactor import Redactor


class SiteReaders:
    """Reads the responses of a trial's sites."""

    def __init__(
        self,
        previous: PreviousResponses,
        looks: SiteLooks,
        rewritten: RewrittenPages,
        redactor: Redactor,
    ) -> None:
        self._previous = previous
        self._looks = looks
        self._rewritten = rewritten
        self._redactor = redactor

    def of_relayed(
        self,
        task: TaskKey,
        request: Request,
        resource: Resource,
        head: ResponseHead,
        *,
        is_rewritten: bool,
        of_agent: bool,
    ) -> list[StreamedRewriter]:
        """Return the readers of a response that is relayed, in their order.

        ``is_rewritten``: by a fault, as well; ``of_agent``: the request is to a model or a server
        of tools.
        """
        readers: list[StreamedRewriter | None] = []
        if not of_agent:
            readers.append(page_reader(head, self._redactor))
            if self._previous.wanted:
                readers.append(self._previous.reader(task, request, resource, head))
            if self._looks.wanted and not is_rewritten:
                readers.append(self._looks.reader(request, head))
        if self._rewritten.reads_code:
            streamed = not is_rewritten
            readers.append(
                self._rewritten.code_reader(request.url, resource, head, streamed=streamed)
            )
        return [reader for reader in readers if reader is not None]

    def note_buffered(self, request: Request, resource: Resource, head: ResponseHead) -> None:
        """Note a response that is read to its end before a fault is applied to it."""
        self._rewritten.code_reader(request.url, resource, head, streamed=False)

    def read_buffered(self, response: WholeResponse) -> None:
        """Read a site's response that was read to its end."""
        read_page(response.head, response.body, self._redactor)


def copy_of(readers: list[StreamedRewriter]) -> ResponseCopy | None:
    """Return the copy that is made by one of these readers, if any."""
    return next((it for it in readers if isinstance(it, ResponseCopy)), None)
