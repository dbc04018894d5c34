"""The base class of the LLM APIs."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from pydantic import JsonValue

from warex.llm.base import (
    ApiErrorKind,
    Image,
    LlmAnswer,
    LlmRequest,
    Sampling,
    SerializedAnswer,
    StreamErrorKind,
)
from warex.llm.body import broken_json
from warex.llm.body.framing import BodyFrames, EventReader, split_frames, stream_events
from warex.llm.body.lenient_json import as_dict, as_list, as_number, as_text
from warex.llm.families import system_prompt
from warex.llm.families.reading import AnswerBuilder, body_excerpt
from warex.text.lazy_pattern import lazy_re

_NUMBER = lazy_re(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class StreamedAnswer:
    """An answer whose events are read as they come."""

    def __init__(self, api: "LlmApi") -> None:
        self._api = api
        self.builder = AnswerBuilder()
        self.events = EventReader()

    def read(self, body: bytearray) -> None:
        """Read the events that are complete now; ``body`` is all that came."""
        for frame in self.events.read(body):
            if isinstance(frame, dict):
                self._api.read(self.builder, frame, complete=False)

    @property
    def has_content(self) -> bool:
        """Whether the answer has any content yet."""
        builder = self.builder
        return bool(builder.text or builder.refusal or builder.reasoning or builder.calls)


class LlmApi(ABC):
    """One LLM API: recognises its requests, reads and changes them.

    A family is recognised by the shape of path and body, not by the host. It is pure; reading
    accepts any body and raises nothing: what cannot be read is an error *in the answer*.
    """

    name: ClassVar[str]
    """The name in traces; also the name of the file."""
    summary: ClassVar[str]
    """One line for docs/reference/llm.md."""
    answer_description: ClassVar[str]
    """An answer of it, for messages: ``a chat completion``."""
    path_endings: ClassVar[tuple[str, ...]]
    """The endings of its calls' paths, without query."""
    counting_endings: ClassVar[tuple[str, ...]] = ()
    """The endings of paths that only count tokens."""
    prompts: ClassVar[tuple[str, ...]] = ("messages",)
    """Keys of the prompt: the body of a call has at least one."""
    text_path: ClassVar[tuple[str | int, ...]] = ()
    """The place of the model's output in a whole answer: text, objects, or nothing."""
    reports: ClassVar[tuple[str, ...]] = ("model", "cache_read", "cache_write", "reasoning")
    """What its answers report: their model, and parts of their usage."""
    reports_wait: ClassVar[bool] = True
    """Whether its errors say after which time a client may retry."""

    @abstractmethod
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        """Whether a POST of this body to this path (with or without query) is a call."""

    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        """Read a recognised request with the most common keys; ``digest`` is ``body_digest``."""
        return LlmRequest(
            api=self.name,
            model=as_text(body.get("model")),
            messages=as_list(body.get("messages")),
            tools=as_list(body.get("tools")),
            stream=body.get("stream") is True,
            body_digest=digest,
            sampling=sampling_in(body),
        )

    def read_answer(
        self,
        request: LlmRequest,
        status: int,
        content_type: str,
        body: bytes,
        begun: "StreamedAnswer | None" = None,
    ) -> LlmAnswer:
        """Read the answer; ``body`` is decompressed, and may be cut.

        ``begun``: what has read its first events, and is used up by this.
        """
        if not 200 <= status < 300:
            return LlmAnswer(request.model, error=f"HTTP {status}: {body_excerpt(body)}")
        builder = AnswerBuilder() if begun is None else begun.builder
        arrived = split_frames(body, content_type, None if begun is None else begun.events)
        for frame in arrived.items:
            if isinstance(frame, dict):
                self.read(builder, frame, complete=arrived.complete)
        if arrived.complete:
            builder.ended = builder.begun and not arrived.cut and not builder.is_continued
        elif arrived.done:
            builder.ended = builder.begun
        if builder.error is not None:
            builder.error = builder.error or "an error without words"
        elif not builder.begun:
            builder.error = self._explain_empty(arrived, body)
        elif builder.is_malformed or (
            arrived.complete and not all(map(self._is_well_formed, arrived.items))
        ):
            builder.error = f"the answer is not {self.answer_description}: {body_excerpt(body)}"
        return builder.answer(request, self.images)

    def _is_well_formed(self, answer: JsonValue) -> bool:
        """Whether the model's output has a readable type, or is missing."""
        value = answer
        for key in self.text_path:
            if isinstance(value, dict):
                value = value if isinstance(key, int) else value.get(key)
            elif isinstance(value, list) and isinstance(key, int):
                value = value[key] if key < len(value) else None
            elif value is not None:
                return False
        return value is None or isinstance(value, str | list | dict)

    def _explain_empty(self, arrived: BodyFrames, body: bytes) -> str:
        """Return why an answer without an error from its API is empty."""
        if not body.strip():
            return "the answer is empty"
        if arrived.error is not None:
            return f"{arrived.error}: {body_excerpt(body)}"
        if arrived.complete and not arrived.cut:
            return f"the answer is not {self.answer_description}: {body_excerpt(body)}"
        return "the answer ended before the model had said anything"

    @abstractmethod
    def read(
        self, builder: AnswerBuilder, frame: Mapping[str, JsonValue], *, complete: bool
    ) -> None:
        """Read one frame of a stream, or with ``complete`` a whole answer."""

    def tool_names(self, tools: Iterable[JsonValue]) -> Iterator[str]:
        """Yield the names of a request's tools: ``name``, or the name of a function."""
        for tool in map(as_dict, tools):
            name = as_text(tool.get("name")) or as_text(as_dict(tool.get("function")).get("name"))
            if name:
                yield name

    @abstractmethod
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        """Return an answer as the API sends it, streamed if the request asks for that.

        ``read_answer`` returns the same answer. One that is not ``complete`` is written without its
        end.
        """

    @abstractmethod
    def write_error(self, request: LlmRequest, kind: ApiErrorKind, wait: int) -> SerializedAnswer:
        """Return an error as the API sends it, with ``wait`` in seconds if it sends one."""

    # ---- a streamed answer, event by event

    def events_of(self, request: LlmRequest, body: bytes, content_type: str) -> list[bytes]:
        """Split a streamed answer after each event; return nothing for another answer."""
        arrived = split_frames(body, content_type)
        if arrived.complete or arrived.error is not None:
            return []
        return stream_events(body, content_type)

    def frames_of(self, request: LlmRequest, event: bytes, content_type: str) -> list[JsonValue]:
        """Return the objects in one event: one, or none in a comment or a mark."""
        arrived = split_frames(event, content_type)
        return [] if arrived.cut else [it for it in arrived.items if isinstance(it, dict)]

    @abstractmethod
    def is_finish(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        """Whether a stream's frame says that the model has ended, and why."""

    def is_end_marker(self, request: LlmRequest, frame: Mapping[str, JsonValue]) -> bool:
        """Whether a stream's frame is the one by which the API ends a stream."""
        return self.is_finish(request, frame)

    def has_end_marker(self, event: bytes) -> bool:
        """Whether an event that is not an object ends a stream."""
        return False

    def break_event(self, request: LlmRequest, event: bytes, content_type: str) -> bytes:
        """Return an event whose JSON breaks off, in its form."""
        return broken_json.break_event(event, content_type)

    @abstractmethod
    def write_error_event(
        self,
        request: LlmRequest,
        kind: StreamErrorKind,
        before: Sequence[Mapping[str, JsonValue]],
    ) -> bytes:
        """Return the event by which the API breaks off a stream that it has begun.

        ``before``: the objects of the events that came.
        """

    def retry_after(self, headers: Mapping[str, str], body: bytes) -> float | None:
        """Return the seconds after which an error allows a retry; None if it does not say.

        ``headers`` have names in lower case (RFC 9110, section 10.2.3, and OpenAI's in
        milliseconds, which its SDKs prefer).
        """
        for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
            value = headers.get(name, "")
            if _NUMBER.fullmatch(value):
                return float(value) / unit
        return None

    def append_to_system_prompt(self, body: bytes, text: str) -> bytes:
        """Return the body of a recognised request with a text at the end of its system prompt.

        All other bytes stay. ``body`` is decompressed. Raises ValueError, with the reason, if the
        form of the system prompt is unknown.
        """
        return self.add_system_text(body.decode(), text).encode()

    def add_system_text(self, sent: str, text: str) -> str:
        """Do what ``append_to_system_prompt`` does, to a body as text."""
        return system_prompt.in_messages(sent, text)

    @abstractmethod
    def images(self, part: Mapping[str, JsonValue]) -> Iterable[Image]:
        """Yield the images directly in an object of a message."""


def are_messages(value: JsonValue, *, with_roles: bool = False) -> bool:
    """Whether a value is a list of one or more objects; with ``with_roles``, each has a role."""
    items = as_list(value)
    if with_roles:
        return bool(items) and all(as_text(as_dict(item).get("role")) for item in items)
    return bool(items) and all(isinstance(item, dict) for item in items)


def system_message(content: JsonValue) -> list[JsonValue]:
    """Return a separate system prompt as a message; empty if there is none."""
    return [{"role": "system", "content": content}] if content else []


def sampling_in(sent: Mapping[str, JsonValue], *, top_p: str = "top_p") -> Sampling:
    """Return the sampling parameters in an object; ``top_p`` is the API's key of that."""
    return Sampling(*(as_number(sent.get(key)) for key in ("temperature", top_p, "seed")))
