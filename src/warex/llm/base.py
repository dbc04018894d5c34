"""LLM calls in one form for every API."""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct
from pydantic import JsonValue

from warex.llm.body.large_base64 import NOTHING_OMITTED, OmittedBase64

type UsageSource = Literal["reported", "estimated", "partial"]
"""The source of a usage.

``reported``: the API's final numbers. ``estimated``: the answer is whole but has no numbers, so
they are estimated from the texts. ``partial``: the answer was cut, so the output is the part that
arrived, counted by the API or estimated; or the API gave no numbers and keeps a part of the call,
so the rest is estimated.
"""


class Usage(Struct, frozen=True):
    """Tokens of one call; ``input_total`` includes the caches, ``output_total`` the reasoning."""

    input_total: int
    output_total: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    source: UsageSource = "reported"
    cache_write_1h: int = 0
    """The part of ``cache_write`` that is kept for an hour, at a higher price."""
    tier: str = ""
    """The billed service tier as the API names it: ``flex``, ``priority``; empty for the default.
    """

    @property
    def cache_write_5m(self) -> int:
        """Tokens written to a cache for the default time."""
        return max(0, self.cache_write - self.cache_write_1h)

    @property
    def is_possible(self) -> bool:
        """Whether no number is negative."""
        cached = (self.cache_read, self.cache_write, self.cache_write_1h)
        return min(self.input_total, self.output_total, *cached, self.reasoning) >= 0

    @property
    def input_plain(self) -> int:
        """Input tokens that were neither read from a cache nor written to one."""
        return max(0, self.input_total - self.cache_read - self.cache_write)


class ToolCall(Struct, frozen=True):
    """A tool call of the model; ``arguments`` is JSON text as written, which may be cut."""

    id: str
    name: str
    arguments: str
    by_server: bool = False
    """Whether the API ran it itself, such as a web search: it is not an action of the agent."""


class Sampling(Struct, frozen=True):
    """The request's sampling parameters; None if not set."""

    temperature: float | None = None
    top_p: float | None = None
    seed: float | None = None


class LlmRequest(Struct, frozen=True):
    """A request of the agent to its model."""

    api: str
    """Name of the family in ``warex.llm.LLM_APIS`` that reads the answer."""
    model: str
    messages: list[JsonValue]
    """As sent. A separate system prompt comes first, as ``{"role": "system", "content": …}``."""
    tools: list[JsonValue]
    stream: bool
    body_digest: str
    """SHA-256 of the path and the body as sent, in hex: equal for a client's own retries."""
    sampling: Sampling = Sampling()
    continues: str | None = None
    """Id of the earlier answer, conversation or prompt that the API puts before ``messages``."""
    tier: str = ""
    """The requested service tier, as in ``Usage``."""
    variant: str = ""
    """The form, if its API has several: ``generate`` of Ollama, ``array`` of Gemini's streams."""
    omitted: OmittedBase64 = NOTHING_OMITTED
    """Large images, replaced by placeholders in ``messages``; they are views of the body."""


ABNORMAL_FINISH: Final[Mapping[str, str]] = {
    "length": "stopped at the limit of tokens",
    "refusal": "refused to help",
    "content_filter": "stopped by a content filter",
    "pause": "wants to be asked again to go on",
    "cut": "cut off before its end",
}
"""Descriptions of abnormal endings by ``Finish``; an error has its own message."""

type Finish = Literal[
    "stop", "tool_calls", "length", "refusal", "content_filter", "pause", "error", "cut"
]
"""How an answer ended, in the same words for every API.

``length``: at the token limit of the request or the model. ``pause``: the API must be asked again
to continue. ``error``: there is no usable answer. ``cut``: the connection ended before the answer.
Unknown reasons of an API count as ``stop``.
"""


class LlmAnswer(Struct, frozen=True):
    """An answer of the model; of several choices, the first."""

    model: str
    """The model that answered, or the requested one if the answer does not say."""
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: str | None = None
    """The API's own word for why it ended."""
    finish: Finish = "error"
    usage: Usage | None = None
    """None if nothing was generated."""
    error: str | None = None
    """Why there is no usable answer; None if there is one."""
    complete: bool = False
    """Whether the end of the answer arrived."""
    reasoning: str = ""
    """The model's reasoning if the API shows it; not part of ``text``."""
    usage_error: str | None = None
    """Why the API's token counts are rejected, if they are."""


class Image(Struct, frozen=True):
    """An image in a message."""

    at: tuple[str | int, ...]
    """Keys and indices from the part to the image."""
    tokens: int
    """The estimated number of tokens."""
    media_type: str = ""
    data: str | None = None
    """The image in base64; None if the message has only its URL."""


type ApiErrorKind = Literal[
    "rate_limited",
    "server_error",
    "unavailable",
    "overloaded",
    "context_too_long",
    "content_filtered",
    "invalid_key",
]
"""Why an LLM API refuses a call."""

type StreamErrorKind = Literal["overloaded", "unavailable", "server_error", "rate_limited"]
"""Why an LLM API breaks off a stream that it has begun."""


class StreamPoint(Struct, frozen=True):
    """A place between two events of a streamed answer: after its beginning, or before its end."""

    events: int | None = None
    """After so many events."""
    tokens: int | None = None
    """After the event with which so many tokens have come, by estimate."""
    before: Literal["finish", "end_marker"] | None = None
    """Before the event that tells why the model ended, or before the last that its API demands."""


class SerializedAnswer(Struct, frozen=True):
    """An answer as an API sends it."""

    status: int
    headers: Mapping[str, str]
    body: bytes
