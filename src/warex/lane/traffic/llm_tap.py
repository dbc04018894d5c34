"""Copies an LLM call while it is streamed, and parses it at its end. The stream is not delayed."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from warex.engine.http.encoding import decode
from warex.lane.traffic.coded_stream import CodedStream
from warex.lane.traffic.token_capture import TokenCapture
from warex.llm import (
    LlmAnswer,
    LlmRequest,
    StreamedAnswer,
    Usage,
    detach_images,
    read_answer,
    usage_at_least,
)
from warex.llm.actions.base import Action
from warex.llm.actions.vocabulary import SubtaskDepth, Vocabulary
from warex.llm.body.framing import MAX_BODY
from warex.llm.body.lenient_json import as_list
from warex.mcp.content import first_items, truncated
from warex.traces import AgentAction, LlmCall
from warex.traces.blobs import BlobStore, reference
from warex.traces.llm_cache import CachedAnswer, CacheLookup
from warex.traces.redaction.structured import redact_image

_MAX_PIECE_TIMES: Final = 4096
"""Recorded pieces of a stream; a first token after them is dated with the last."""
_MOST_MESSAGES: Final = 2 * 1024 * 1024
"""Characters of a call's messages that are recorded: as many as 500,000 tokens have."""
_MOST_TOOLS: Final = 512 * 1024
"""Characters of its tools that are recorded."""
_READ_AT_ONCE: Final = 8 * 1024
"""Bytes of a stream that are read together, in half a millisecond; one by one they cost more."""
_MAX_SEARCHED: Final = 256 * 1024
"""Bytes of a stream in which its first token is looked for; the same holds after them."""


class LlmTap(Struct):
    """An open LLM call of the agent."""

    request: LlmRequest
    url: str
    step: int
    began: float
    """Second of the trial at which the request arrived."""
    first_byte: float | None = None
    last_byte: float | None = None
    body: bytearray = field(default_factory=bytearray)
    is_truncated: bool = False
    """Whether the answer is longer than the kept body."""
    piece_times: list[tuple[int, float]] = field(default_factory=list)
    """Length of a stream's body and second of the trial, after each of its first pieces."""
    begun: StreamedAnswer | None = None
    """Reads a stream of events as it comes."""
    coded: CodedStream | None = None
    """Decodes an encoded stream before it is read."""
    first_token: float | None = None
    """Second of the trial at which the first content of the answer came, if known by then."""
    cache_entry: CacheLookup | None = None
    sent_at: float = 0.0
    """Second of the trial at which the model was asked: its latency has no fault's delay."""
    replayed: CachedAnswer | None = None
    """The cached answer that is used."""
    upstream_usage: Usage | None = None
    """The tokens of the model's own answer, if a fault may replace it."""
    progress: SubtaskDepth = field(default_factory=SubtaskDepth)
    """The agent's subtask depth."""
    tokens: TokenCapture | None = None
    """Captures the answer's tokens."""

    def add(self, data: bytes, now: float) -> None:
        """Copy a piece of the answer."""
        if self.first_byte is None:
            self.first_byte = now
        self.last_byte = now
        room = MAX_BODY - len(self.body)
        self.is_truncated = self.is_truncated or len(data) > room
        recorded = data if len(data) <= room else data[:room]
        self.body += recorded
        if self.request.stream and len(self.piece_times) < _MAX_PIECE_TIMES:
            self.piece_times.append((len(self.body), now))
        if self.coded is None:
            self._read(self.body, now)
        else:
            self.coded.add(recorded)
            self.read_on(now)

    def read_on(self, now: float) -> bool:
        """Read the next part of an encoded stream; return whether more of it may be left."""
        if self.coded is None or not self.coded.decode_part():
            return False
        self._read(self.coded.body, now)
        return True

    def _read(self, body: bytearray, now: float) -> None:
        """Read the events that are complete, once there are some; ``body``: all that came, decoded.

        Until the first token each is read as it comes: its time is that of the token.
        """
        if self.begun is None:
            return
        unread = len(body) - self.begun.events.taken
        if self.first_token is not None and unread < _READ_AT_ONCE:
            return
        self.begun.read(body)
        if self.first_token is None and self.begun.has_content:
            self.first_token = now

    def read_upstream_usage(self, status: int, content_type: str, content_encoding: str) -> None:
        """Note the usage of the model's own answer, which a fault may replace."""
        self.upstream_usage = _answer(self, status, content_type, content_encoding, None).usage

    def reset(self) -> None:
        """Drop the copy of the answer, since a fault sends another one or paces it."""
        self.first_byte = self.last_byte = None
        self.body, self.is_truncated = bytearray(), False
        self.piece_times = []
        self.begun = self.coded = self.first_token = None


class ReadCall(Struct, frozen=True):
    """A finished call: its event, and the agent's next actions."""

    event: LlmCall
    answer: LlmAnswer
    actions: tuple[AgentAction, ...]
    ends_task: bool


def read_call(
    tap: LlmTap,
    exchange: str,
    *,
    status: int | None,
    content_type: str,
    content_encoding: str,
    error: str | None,
    now: float,
    vocabulary: Vocabulary | None,
    blobs: BlobStore | None,
    by_model: bool = True,
) -> ReadCall:
    """Parse a finished call; ``error`` says why there is no answer, if there is none.

    ``by_model``: the answer, or its beginning, is the model's; any other has only the usage of the
    answer that it replaced. The agent's subtask depth is updated with the actions. The
    first values of a request with very many are read, since others wait meanwhile.
    """
    asked, has_more_items = first_items(tap.request.messages)
    if has_more_items:
        tap.request = replace(tap.request, messages=as_list(asked))
    answer = _answer(tap, status, content_type, content_encoding, error)
    first_token = _first_token(tap, answer, content_type, content_encoding)

    def keep(image: bytes) -> str:
        redacted = redact_image(image)
        return reference(redacted) if blobs is None else blobs.put(redacted)

    messages, has_more_messages = truncated(detach_images(tap.request, keep), _MOST_MESSAGES)
    tools, has_more_tools = truncated(tap.request.tools, _MOST_TOOLS)
    usage = answer.usage if by_model else tap.upstream_usage
    tokens, tokens_error = _tokens(tap, status, blobs) if by_model else ("", None)
    event = LlmCall(
        exchange=exchange,
        family=tap.request.api,
        url=tap.url,
        model=answer.model or tap.request.model,
        model_asked=tap.request.model,
        temperature=tap.request.sampling.temperature,
        top_p=tap.request.sampling.top_p,
        seed=tap.request.sampling.seed,
        step=tap.step,
        began=round(tap.began, 6),
        messages=messages,
        tools=tools or None,
        stream=tap.request.stream,
        status=status,
        answer=answer.text,
        tool_calls=[
            {"id": call.id, "name": call.name, "arguments": call.arguments}
            | ({"by_server": True} if call.by_server else {})
            for call in answer.tool_calls
        ],
        finish_reason=answer.finish_reason,
        finish=answer.finish,
        continues=tap.request.continues,
        service_tier=usage.tier if usage else tap.request.tier,
        input_tokens=usage.input_total if usage else None,
        output_tokens=usage.output_total if usage else None,
        cached_tokens=usage.cache_read if usage else 0,
        cache_write_tokens=usage.cache_write if usage else 0,
        cache_write_1h_tokens=usage.cache_write_1h if usage else 0,
        reasoning_tokens=usage.reasoning if usage else 0,
        usage=usage.source if usage else "none",
        usage_error=answer.usage_error if by_model else None,
        latency_s=round(now - tap.began, 6),
        first_token_s=None if first_token is None else round(first_token - tap.began, 6),
        complete=answer.complete,
        error=answer.error,
        replayed=tap.replayed is not None,
        original_latency_s=None if tap.replayed is None else tap.replayed.latency_s,
        tokens_blob=tokens,
        tokens_error=tokens_error,
        shortened=has_more_items or has_more_messages or has_more_tools,
    )
    if vocabulary is None or answer.error is not None:
        return ReadCall(event, answer, (), ends_task=False)
    # Imported here, so that a first answer does not wait for it.
    from warex.llm.actions.parser import parse_actions

    actions = parse_actions(answer, vocabulary)
    return ReadCall(
        event,
        answer,
        tuple(_events(actions, vocabulary, exchange, tap.step)),
        ends_task=tap.progress.ends(actions, vocabulary),
    )


def _tokens(tap: LlmTap, status: int | None, blobs: BlobStore | None) -> tuple[str, str | None]:
    """Store a call's tokens; return their reference, or why an answer has none."""
    if tap.tokens is None or status is None or not 200 <= status < 300:
        return "", None
    if tap.replayed is not None:
        return "", "the answer is an earlier one, from the cache"
    return tap.tokens.keep(blobs)


def _answer(
    tap: LlmTap, status: int | None, content_type: str, content_encoding: str, error: str | None
) -> LlmAnswer:
    if status is None:
        return LlmAnswer(model=tap.request.model, error=error or "no answer came")
    content = decode(bytes(tap.body), content_encoding, MAX_BODY)
    begun, tap.begun, tap.coded = tap.begun, None, None  # The cached answer is used up.
    answer = read_answer(tap.request, status, content_type, content.body, begun)
    if content.error is not None:
        answered = 200 <= status < 300
        why = content.error if answered else f"HTTP {status}: {content.error}"
        usage = answer.usage or (usage_at_least(tap.request) if answered else None)
        answer = replace(answer, error=why, complete=False, finish="error", usage=usage)
    if tap.is_truncated:
        why = answer.error or f"more than {MAX_BODY:,} bytes came, of which the first are read"
        return replace(answer, error=why, complete=False, finish="error")
    if error is not None and answer.error is None and not answer.complete:
        return replace(answer, error=error)
    return answer


def _first_token(
    tap: LlmTap, answer: LlmAnswer, content_type: str, content_encoding: str
) -> float | None:
    """Return the time of the first token; of the first byte, if the answer is not streamed."""
    if not tap.piece_times or not _has_content(answer):
        return None if tap.piece_times else tap.first_byte

    if tap.first_token is not None:
        return tap.first_token

    def begun(pieces: int) -> bool:
        end, _ = tap.piece_times[pieces - 1]
        body = decode(bytes(tap.body[:end]), content_encoding, _MAX_SEARCHED).body
        return _has_content(read_answer(tap.request, 200, content_type, body))

    # Double the pieces each time, so that at most twice the necessary bytes are parsed.
    tried, known = 1, bisect_right(tap.piece_times, (_MAX_SEARCHED, 0.0)) or 1
    while tried < known and not begun(tried):
        tried *= 2
    within = range(tried // 2 + 1, min(tried, known))
    return tap.piece_times[within.start - 1 + bisect_left(within, True, key=begun)][1]


def _has_content(answer: LlmAnswer) -> bool:
    return bool(answer.text or answer.reasoning or answer.tool_calls)


def _events(
    actions: tuple[Action, ...], vocabulary: Vocabulary, exchange: str, step: int
) -> Iterable[AgentAction]:
    for action in actions:
        yield AgentAction(
            exchange=exchange,
            step=step,
            name=action.name,
            arguments=list(action.arguments)
            if isinstance(action.arguments, tuple)
            else dict(action.arguments),
            role=_role(action.name, vocabulary),
            context=action.context,
        )


def _role(name: str, vocabulary: Vocabulary) -> Literal["finish", "recover", "navigate", "other"]:
    if name in vocabulary.finish:
        return "finish"
    if name in vocabulary.recover:
        return "recover"
    return "navigate" if name in vocabulary.navigate else "other"
