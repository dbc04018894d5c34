"""What an LLM call on the wire says, in one form for every API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from pydantic import JsonValue

from warex.llm.body.large_base64 import NOTHING_OMITTED, OmittedBase64

type UsageSource = Literal["reported", "estimated", "partial"]
"""How far a usage can be trusted.

``reported``: the API's own final numbers. ``estimated``: the answer is whole but its API gave no
numbers, so they are estimated from the texts. ``partial``: the answer was cut, so the output is
what had arrived by then, counted by the API where it does so in every chunk, else estimated; or
the API gave no numbers and has a part of the call to itself, so it is the rest, estimated.
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
    cache_write_1h: int = 0
    """Of ``cache_write``, what is to last an hour, which costs more than the usual minutes."""
    tier: str = ""
    """The service tier that it is billed at, in its API's word: ``flex``, ``priority``; empty for
    the usual one."""

    @property
    def cache_write_5m(self) -> int:
        """What was put into a cache for no longer than usual."""
        return max(0, self.cache_write - self.cache_write_1h)

    @property
    def is_possible(self) -> bool:
        """Whether each of them is a number of tokens."""
        cached = (self.cache_read, self.cache_write, self.cache_write_1h)
        return min(self.input_total, self.output_total, *cached, self.reasoning) >= 0

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
    by_server: bool = False
    """Whether the API ran it itself, as a search of the web: no action of the agent."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the model is to choose its words, as far as the request says."""

    temperature: float | None = None
    top_p: float | None = None
    seed: float | None = None


@dataclass(frozen=True, slots=True)
class LlmRequest:
    """What the agent asked its model."""

    api: str
    """Name of the family in ``warex.llm.FAMILIES`` that can read the answer."""
    model: str
    messages: list[JsonValue]
    """As sent. A system prompt that the API has elsewhere stands first, as ``{"role": "system",
    "content": …}``."""
    tools: list[JsonValue]
    stream: bool
    body_digest: str
    """SHA-256 of the path and the body as sent, in hex: equal for a client's own retries."""
    sampling: Sampling = Sampling()
    continues: str | None = None
    """What the API keeps and puts before ``messages``: the id of an earlier answer, of a
    conversation or of a prompt."""
    tier: str = ""
    """The service tier that it asks for, as in ``Usage``."""
    variant: str = ""
    """Which of its API's forms it has, where that has several: ``generate`` of Ollama's,
    ``array`` of Gemini's streams."""
    omitted: OmittedBase64 = field(default=NOTHING_OMITTED, repr=False, compare=False)
    """Large images, which have only a stand-in in ``messages``: ``detach_images`` takes them from
    the body, of which they are views."""


ABNORMAL_FINISH: Final[Mapping[str, str]] = {
    "length": "stopped at the limit of tokens",
    "refusal": "refused to help",
    "content_filter": "stopped by a content filter",
    "pause": "wants to be asked again to go on",
    "cut": "cut off before its end",
}
"""What happened to an answer that did not end as it should, by its ``Finish``; an error has words
of its own."""

type Finish = Literal[
    "stop", "tool_calls", "length", "refusal", "content_filter", "pause", "error", "cut"
]
"""How an answer ended, in one set of words for every API.

``length``: at the limit of tokens, the request's or the model's. ``pause``: the API wants to be
asked again to go on. ``error``: there is no usable answer. ``cut``: the connection ended before the
answer did. An API's own word that is none of these counts as ``stop``.
"""


@dataclass(frozen=True, slots=True)
class LlmAnswer:
    """What the model answered; of several choices, the first."""

    model: str
    """The model that answered; the one asked for where the answer does not say."""
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    """The API's own word for why it ended."""
    finish: Finish = "error"
    usage: Usage | None = None
    """None if nothing was generated: an error, or an answer that is none."""
    error: str | None = None
    """Why there is no usable answer, in words; None if there is one."""
    complete: bool = False
    """Whether the answer's own end arrived; a cut one is never complete."""
    reasoning: str = ""
    """The model's thinking, where its API shows it; not part of ``text``."""
    usage_error: str | None = None
    """Why the API's own numbers of tokens are not believed, where they are not."""


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a message."""

    at: tuple[str | int, ...]
    """Keys and indices that lead from the part to what holds the image."""
    tokens: int
    """About how many tokens the model reads it as."""
    media_type: str = ""
    data: str | None = None
    """The image in base64; None where the message has only its address."""


type ApiErrorKind = Literal[
    "rate_limited",
    "server_error",
    "unavailable",
    "overloaded",
    "context_too_long",
    "content_filtered",
    "invalid_key",
]
"""What an API of models refuses a call for."""


@dataclass(frozen=True, slots=True)
class SerializedAnswer:
    """An answer as an API sends it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
