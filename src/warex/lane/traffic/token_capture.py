"""Captures the tokens of one call to a model server: asks for them, records them, hides them."""

from collections.abc import Mapping

from warex.engine.http.encoding import decode, encode
from warex.engine.http.heads import RequestHead, ResponseHead
from warex.lane.whole_response import WholeResponse
from warex.llm import LlmRequest
from warex.llm.recognition.request_signing import body_signature
from warex.llm.tokens import API, TokenReader, ask_for_tokens
from warex.rewriting.event_stream import EVENT_STREAM, EventSplitter, StreamEvent
from warex.traces.blobs import BlobStore
from warex.traffic import TokenDialect


class TokenCapture:
    """The tokens of one call. What cannot be captured passes unchanged, with a sentence why."""

    def __init__(self, request: LlmRequest, dialect: TokenDialect) -> None:
        self._dialect = dialect
        self._reader: TokenReader | None = None
        self._splitter: EventSplitter | None = None
        self._error: str | None = None
        """Why no tokens can be captured."""
        self.needs_whole_response = False
        if request.api != API:
            self._error = f"tokens are captured from {API} alone, and the call is of {request.api}"

    def ask(self, head: RequestHead, fields: Mapping[str, str], body: bytes) -> bytes:
        """Return the body that the server gets; ``fields``: of the request, by lower-case name."""
        if self._error is not None:
            return body
        if signed := body_signature(head.path, fields):
            self._error = signed
            return body
        coding = head.headers.get("content-encoding")
        content = decode(body, coding)
        if content.error is not None:
            self._error = content.error
            return body
        try:
            asked = ask_for_tokens(content.body, self._dialect)
        except ValueError as error:
            self._error = str(error)
            return body
        self._reader = TokenReader(asked)
        return encode(asked.body, coding)

    @property
    def streams(self) -> bool:
        """Whether the answer is changed as it comes."""
        return self._splitter is not None

    def answered(self, head: ResponseHead) -> None:
        """Decide by the head of the answer how it is read."""
        if self._reader is None or not 200 <= head.status < 300:
            return
        coding = head.headers.get("content-encoding")
        if coding not in ("", "identity"):
            self._error = f"the answer is compressed ({coding}), though plain bytes were asked for"
        elif _media_type(head) == EVENT_STREAM:
            self._splitter = EventSplitter(EVENT_STREAM)
        else:
            self.needs_whole_response = True

    def feed(self, piece: bytes) -> bytes:
        """Read a piece of a stream, empty at its end; return what the agent gets."""
        if self._splitter is None:
            return piece
        events = self._splitter.feed(piece) if piece else self._splitter.close()
        return b"".join(map(self._event, events))

    def read_complete(self, response: WholeResponse) -> WholeResponse:
        """Read a complete answer; return it as the agent gets it."""
        if self._reader is None or self._error is not None:
            return response
        if self._splitter is not None:
            body = self.feed(response.body) + self.feed(b"")
            self._splitter = None  # It may still be sent in pieces, which are fed.
        elif self.needs_whole_response:
            body = self._reader.read(response.body, complete=True) or b""
        else:
            return response
        return response if body == response.body else response.with_body(body)

    def keep(self, blobs: BlobStore | None) -> tuple[str, str | None]:
        """Store the tokens; return their reference, or else why there are none."""
        if self._error is not None or self._reader is None:
            return "", self._error or "the server was not asked for tokens"
        if blobs is None:
            return "", "the trial keeps no trace"
        try:
            tokens = self._reader.tokens()
        except ValueError as error:
            return "", str(error)
        return blobs.put(tokens.written()), None

    def _event(self, event: StreamEvent) -> bytes:
        assert self._reader is not None
        if event.content is None:
            return event.raw
        content = self._reader.read(event.content, complete=False)
        if content is None:
            return event.left_out()
        if content == event.content:
            return event.raw
        if event.content in event.raw:
            return event.raw.replace(event.content, content, 1)
        return event.with_content(content)  # Its data are several lines.


def _media_type(head: ResponseHead) -> str:
    return head.headers.get("content-type").partition(";")[0].strip().lower()
