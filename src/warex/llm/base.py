"""What an LLM call on the wire says, in one form for every API, and what reads it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import JsonValue

type UsageSource = Literal["reported", "estimated", "partial"]
"""How far a usage can be trusted.

``reported``: the API's own final numbers. ``estimated``: the answer is whole but its API gave no
numbers, so they are estimated from the texts. ``partial``: the answer was cut, so the output is
what had arrived by then, counted by the API where it does so in every chunk, else estimated.
"""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call, in one convention for every API.

    ``input_total`` includes what was read from and written to a cache, ``output_total`` includes
    the reasoning.
    """

    input_total: int
    output_total: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    source: UsageSource = "reported"

    @property
    def input_plain(self) -> int:
        """What was read neither from a cache nor into one."""
        return max(0, self.input_total - self.cache_read - self.cache_write)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool the model asks for; ``arguments`` is JSON text as the model wrote it, maybe cut."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model is to choose its words, as far as the request says."""

    temperature: float | None = None
    top_p: float | None = None
    seed: float | None = None


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """What the agent asked its model."""

    family: str
    """Name of the family in ``warex.llm.FAMILIES`` that can read the answer."""
    model: str
    messages: list[JsonValue]
    """As sent, system prompt included where the API has it in the messages."""
    tools: list[JsonValue]
    stream: bool
    body_digest: str
    """SHA-256 of the body as sent, in hex: equal for a client's own retries."""
    sampling: Sampling = Sampling()


@dataclass(frozen=True, slots=True)
class LlmAnswer:
    """What the model answered; of several choices, the first."""

    model: str
    """The model that answered; the one asked for where the answer does not say."""
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    """None if nothing was generated: an error, or an answer that is none."""
    error: str | None = None
    """Why there is no usable answer, in words; None if there is one."""
    complete: bool = False
    """Whether the answer's own end arrived; a cut one is never complete."""
    reasoning: str = ""
    """The model's thinking, where its API shows it; not part of ``text``."""


class Family(ABC):
    """One LLM API: which requests are its own and how to read them.

    A family is recognised by the shape of path and body, never by the host: models are served from
    anywhere. It is pure and must bear any body: when it reads, what is not understood is an error
    *in the answer*, nothing is raised.
    """

    name: ClassVar[str]
    """The name in traces; also the name of the file."""
    summary: ClassVar[str]
    """One line for docs/reference/llm.md."""
    path_endings: ClassVar[tuple[str, ...]]
    """How the path of each of its calls ends, query left out."""

    @abstractmethod
    def recognise(self, path: str, body: Mapping[str, JsonValue]) -> bool:
        """Tell whether a POST of this body to this path (with or without query) is a call."""

    @abstractmethod
    def read_request(self, path: str, body: Mapping[str, JsonValue], digest: str) -> LlmRequest:
        """Return what a recognised request asks; ``digest`` is its ``body_digest``."""

    @abstractmethod
    def read_answer(
        self, request: LlmRequest, status: int, content_type: str, body: bytes
    ) -> LlmAnswer:
        """Return what the answer says; ``body`` is decompressed, and cut where the answer was."""

    @abstractmethod
    def with_system_text(self, body: bytes, text: str) -> bytes:
        """Return the body of a recognised request with a text at the end of its system prompt.

        All else stays as it was written, byte for byte. ``body`` is decompressed.

        Raises:
            ValueError: its system prompt has a form that is not understood; the message says which.

        """
