"""The events of calls: of the agent to its model, and to servers of tools."""

from typing import Literal

from msgspec import field

from warex.llm.base import Finish, Usage
from warex.traces.event_parts import BaseEvent, Json


class LlmCall(BaseEvent, frozen=True, kw_only=True, tag="llm_call"):
    """One call of the agent to its model."""

    exchange: str
    family: str
    url: str
    model: str
    step: int
    """The agent's step, from 1; a repeated body stays in its step."""
    began: float
    """Second of the trial at which the request arrived."""
    messages: Json
    tools: Json = None
    stream: bool
    status: int | None
    answer: str
    tool_calls: list[Json] = field(default_factory=list)
    finish_reason: str | None = None
    """The API's own word for why the answer ended."""
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    """Input tokens written to a cache."""
    cache_write_1h_tokens: int = 0
    """The part of them that is kept for an hour."""
    reasoning_tokens: int = 0
    usage: Literal["reported", "estimated", "partial", "none"]
    latency_s: float
    first_token_s: float | None
    """Seconds to a streamed answer's first text or a whole one's first byte; None if neither."""
    complete: bool
    error: str | None = None
    replayed: bool = False
    """Whether it is an earlier trial's answer, whose tokens were not spent again."""
    original_latency_s: float | None = None
    """Seconds that a replayed answer took originally."""
    model_asked: str = ""
    """The requested model; ``model`` is the one that answered."""
    temperature: float | None = None
    """As in the request; None if not set. The same for the next two."""
    top_p: float | None = None
    seed: float | None = None
    finish: Finish | None = None
    """How the answer ended, in the same words for every API; None in older traces."""
    usage_error: str | None = None
    """Why the API's token counts are rejected, if they are."""
    continues: str | None = None
    """Id of the earlier answer or conversation that the API puts before the messages."""
    service_tier: str = ""
    """The billed service tier: ``flex``, ``priority``, …; empty for the default."""
    tokens_blob: str = ""
    """The blob with the answer's token ids and log-probabilities; empty if there are none."""
    tokens_error: str | None = None
    """Why tokens were not captured, where they were to be."""
    shortened: bool = False
    """Whether messages or tools were shortened, or redacted as a whole from some place on."""

    @property
    def carrier(self) -> str:
        """The exchange that carried it: a WebSocket's carries several calls, ``x5/1``, ``x5/2``."""
        return self.exchange.partition("/")[0]

    @property
    def tokens_per_s(self) -> float | None:
        """Tokens per second from the first to the last; None unless streamed, whole and new."""
        if not self.stream or not self.complete or self.replayed or self.first_token_s is None:
            return None
        seconds = self.latency_s - self.first_token_s
        return self.output_tokens / seconds if self.output_tokens and seconds > 0 else None

    @property
    def saved_s(self) -> float:
        """Seconds saved by a replayed answer; else 0."""
        original = self.original_latency_s if self.replayed else None
        return 0.0 if original is None else original - self.latency_s

    @property
    def tokens(self) -> Usage | None:
        """The usage; None if nothing was generated."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return Usage(
            input_total=self.input_tokens or 0,
            output_total=self.output_tokens or 0,
            cache_read=self.cached_tokens,
            cache_write=self.cache_write_tokens,
            cache_write_1h=self.cache_write_1h_tokens,
            reasoning=self.reasoning_tokens,
            tier=self.service_tier,
        )


class LlmRetried(BaseEvent, frozen=True, kw_only=True, tag="llm_retried"):
    """A client repeats an LLM call that was refused with a time to wait."""

    exchange: str
    """The repeated call."""
    injection: str
    """The injection that refused it."""
    retry_after_s: float
    """Seconds in the refusal, as in HTTP's ``Retry-After``."""
    waited_s: float
    """Seconds that the client waited."""


class LlmUnread(BaseEvent, frozen=True, kw_only=True, tag="llm_unread"):
    """A request looks like an LLM call and could not be read."""

    exchange: str
    """Empty for a connection that was passed through."""
    url: str
    reason: str


class McpCall(BaseEvent, frozen=True, kw_only=True, tag="mcp_call"):
    """One request of the agent to an MCP server, with its answer."""

    exchange: str
    """The request's exchange; the answer may be in another."""
    url: str
    transport: Literal["streamable_http", "sse", "stdio"]
    session: int = 0
    """Number of the session within the trial; 0 for none."""
    id: Json
    """JSON-RPC's id of the request."""
    method: str
    """The method, such as ``tools/call``."""
    tool: str = ""
    """The called tool; empty if ``method`` calls none."""
    arguments: Json = None
    """The tool's arguments; for other methods, all parameters."""
    result: Json = None
    """As answered, with images replaced by blob names. None if there is none."""
    is_error: bool = False
    """Whether the tool reports a failure."""
    error: str | None = None
    """Why there is no usable result, by the tool, the server or WAREX; None if there is one."""
    error_code: int | None = None
    """JSON-RPC's code of an error."""
    began: float
    """Second of the trial at which the request arrived."""
    latency_s: float
    """Seconds until the answer, or until it was clear that there is none."""
    complete: bool
    """Whether it was answered, also with an error."""
    shortened: bool = False
    """Whether arguments or result were shortened, or redacted as a whole from some place on."""
