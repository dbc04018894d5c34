"""What reads the calls of one LLM API."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar

from pydantic import JsonValue

from warex.llm.base import ApiErrorKind, Image, LlmAnswer, LlmRequest, SerializedAnswer
from warex.llm.body.framing import BodyFrames, split_frames
from warex.llm.body.lenient_json import as_dict, as_text
from warex.llm.families.reading import AnswerBuilder, body_excerpt

_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class LlmApi(ABC):
    """One LLM API: which requests are its own, and how to read and to change them.

    A family is recognised by the shape of path and body, never by the host: models are served from
    anywhere. It is pure and must bear any body: when it reads, what is not understood is an error
    *in the answer*, nothing is raised.
    """

    name: ClassVar[str]
    """The name in traces; also the name of the file."""
    summary: ClassVar[str]
    """One line for docs/reference/llm.md."""
    answer_description: ClassVar[str]
    """What it answers with, for sentences: ``a chat completion``."""
    path_endings: ClassVar[tuple[str, ...]]
    """How the path of each of its calls ends, query left out."""
    counting_endings: ClassVar[tuple[str, ...]] = ()
    """How the paths end at which its API counts tokens, and generates nothing."""
    prompts: ClassVar[tuple[str, ...]] = ("messages",)
    """Where the body of a call has what the model is asked: at least one of them is there."""
    text_path: ClassVar[tuple[str | int, ...]] = ()
    """Where a whole answer has what the model said: text, objects, or nothing."""
    reports: ClassVar[tuple[str, ...]] = ("model", "cache_read", "cache_write", "reasoning")
    """What its answers name of themselves: their model, and parts of their usage."""

    @abstractmethod
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        """Tell whether a POST of this body to this path (with or without query) is a call."""

    @abstractmethod
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        """Return what a recognised request asks; ``digest`` is its ``body_digest``."""

    def read_answer(
        self, request: LlmRequest, status: int, content_type: str, body: bytes
    ) -> LlmAnswer:
        """Return what the answer says; ``body`` is decompressed, and cut where the answer was."""
        if not 200 <= status < 300:
            return LlmAnswer(request.model, error=f"HTTP {status}: {body_excerpt(body)}")
        arrived, said = split_frames(body, content_type), AnswerBuilder()
        for frame in arrived.items:
            if isinstance(frame, dict):
                self.read(said, frame, whole=arrived.whole)
        if arrived.whole:
            said.ended = said.begun and not arrived.cut and not said.is_continued
        elif arrived.done:
            said.ended = said.begun
        if said.error is not None:
            said.error = said.error or "an error without words"
        elif not said.begun:
            said.error = self._why_nothing(arrived, body)
        elif said.is_malformed or (
            arrived.whole and not all(map(self._is_well_formed, arrived.items))
        ):
            said.error = f"the answer is not {self.answer_description}: {body_excerpt(body)}"
        return said.answer(request, self.images)

    def _is_well_formed(self, answer: JsonValue) -> bool:
        """Whether what the model said has a type that can be read, or is not there."""
        value = answer
        for key in self.text_path:
            if isinstance(value, dict):
                value = value if isinstance(key, int) else value.get(key)
            elif isinstance(value, list) and isinstance(key, int):
                value = value[key] if key < len(value) else None
            elif value is not None:
                return False
        return value is None or isinstance(value, str | list | dict)

    def _why_nothing(self, arrived: BodyFrames, body: bytes) -> str:
        """Say why an answer without an error of its API's own says nothing."""
        if not body.strip():
            return "the answer is empty"
        if arrived.error is not None:
            return f"{arrived.error}: {body_excerpt(body)}"
        if arrived.whole and not arrived.cut:
            return f"the answer is not {self.answer_description}: {body_excerpt(body)}"
        return "the answer ended before the model had said anything"

    @abstractmethod
    def read(self, said: AnswerBuilder, frame: Mapping[str, JsonValue], *, whole: bool) -> None:
        """Take in one frame of a stream, or with ``whole`` the only one of a whole answer."""

    def tool_names(self, tools: Iterable[JsonValue]) -> Iterator[str]:
        """Yield the names of the tools that a request offers: ``name``, or that of a function."""
        for tool in map(as_dict, tools):
            name = as_text(tool.get("name")) or as_text(as_dict(tool.get("function")).get("name"))
            if name:
                yield name

    @abstractmethod
    def write_answer(self, request: LlmRequest, answer: LlmAnswer) -> SerializedAnswer:
        """Return an answer as the API sends it, streamed where the request asks for that.

        What ``read_answer`` reads in it is the same answer. An answer that is not ``complete`` is
        written as far as it goes, without its end.
        """

    @abstractmethod
    def error_response(
        self, request: LlmRequest, trouble: ApiErrorKind, wait: int
    ) -> SerializedAnswer:
        """Return the error that the API sends for a trouble, in its own words.

        ``wait`` is for how many seconds a client is told to wait, where the API tells it so.
        """

    def retry_after(self, headers: Mapping[str, str], body: bytes) -> float | None:
        """Return for how many seconds an error tells its client to wait; None if it does not.

        ``headers`` have names in lower case (RFC 9110, section 10.2.3, and OpenAI's in
        milliseconds, which its SDKs heed first).
        """
        for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
            told = headers.get(name, "")
            if _NUMBER.fullmatch(told):
                return float(told) / unit
        return None

    @abstractmethod
    def append_to_system_prompt(self, body: bytes, text: str) -> bytes:
        """Return the body of a recognised request with a text at the end of its system prompt.

        All else stays as it was written, byte for byte. ``body`` is decompressed.

        Raises:
            ValueError: its system prompt has a form that is not understood; the message says which.

        """

    @abstractmethod
    def images(self, part: Mapping[str, JsonValue]) -> Iterable[Image]:
        """Yield the images that an object anywhere in a message holds itself."""
