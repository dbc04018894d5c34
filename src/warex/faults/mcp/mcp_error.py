"""A tool call fails."""

from typing import Annotated, ClassVar, Final, Literal, override

from pydantic import Field

from warex.effects import Effect, Reply
from warex.faults.mcp.base import McpFault
from warex.mcp.changes import INTERNAL_ERROR, SESSION_NOT_FOUND, error, serialize, tool_failure
from warex.mcp.exchange import McpExchange
from warex.seeds import KeyedRng

_WORDS: Final = (
    "Error: the operation timed out. Please try again.",
    "Error: the target page, context or browser has been closed.",
    "Error: an internal error occurred while the tool was running.",
)
_ENDINGS: Final = {
    "tool": "answered with a result in which the tool says that it failed",
    "protocol": f"answered with JSON-RPC's error {INTERNAL_ERROR}",
    "http_500": "answered 500",
    "session_lost": "answered 404: the server knows the session no longer",
}


class McpError(McpFault, frozen=True):
    """Answer a tool call with an error of the tool, the server or its transport."""

    summary: ClassVar = "Answer a call of a tool over MCP with an error."

    kind: Literal["mcp_error"] = "mcp_error"
    error: Literal["tool", "protocol", "http_500", "session_lost"] = Field(
        default="tool",
        description="Who fails: the tool (`isError`), the server (an error of JSON-RPC), its HTTP"
        " (500), or its memory of the session (404). Over standard input and output, which has"
        " no HTTP, the last two are errors of JSON-RPC.",
    )
    text: Annotated[str, Field(min_length=1, max_length=10_000)] | None = Field(
        default=None, description="What the tool or the server says; left out, a usual sentence."
    )

    @override
    def on_request(self, exchange: McpExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        text = self.text or rng.choice(_WORDS, "mcp_error")
        match self.error:
            case "tool":
                return self.answer(exchange, tool_failure(text))
            case "protocol":
                return self.answer(exchange, error(INTERNAL_ERROR, self.text or "Internal error"))
            case "http_500" if exchange.transport == "stdio":
                text = self.text or "Internal Server Error"
                return self.answer(exchange, error(INTERNAL_ERROR, text))
            case "session_lost" if exchange.transport == "stdio":
                text = self.text or "Session not found"
                return self.answer(exchange, error(SESSION_NOT_FOUND, text))
            case "http_500":
                plain = {"content-type": "text/plain; charset=utf-8"}
                reply = Reply(500, plain, (self.text or "Internal Server Error").encode())
                return (*self.hold_effects, reply)
            case "session_lost":
                refusal = error(SESSION_NOT_FOUND, self.text or "Session not found")
                body = serialize({"jsonrpc": "2.0", "id": None, **refusal})
                return (*self.hold_effects, Reply(404, {"content-type": "application/json"}, body))

    @override
    def outcome(self) -> str:
        return _ENDINGS[self.error]
