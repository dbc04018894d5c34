"""The model's answer is complete but unusable."""

from typing import ClassVar, Final, Literal, override

from msgspec.structs import replace
from pydantic import Field

from warex.effects import Effect
from warex.faults.llm.base import LlmFault, as_reply
from warex.llm import LlmAnswer, ToolCall, Usage, tool_names, write_answer
from warex.llm.base import LlmRequest
from warex.llm.exchange import LlmExchange
from warex.seeds import KeyedRng

_UNKNOWN: Final = "browser_resolve_page"
_NOTHING: Final = "{}"
_CUT: Final = '{"reason": "The button is visible now, so I', '{"element": "Continue", "ref": "e'


class LlmMalformed(LlmFault, frozen=True):
    """Answer a call with something that no agent can carry out.

    A call that offers tools is answered with a tool call, any other with the same as JSON text.
    """

    summary: ClassVar = "Answer a call to a model with broken JSON, or a tool that does not exist."

    kind: Literal["llm_malformed"] = "llm_malformed"
    how: Literal["arguments", "unknown_tool", "body"] = Field(
        default="arguments",
        description="A tool call whose arguments break off; a tool that was not offered; or the"
        " API's own JSON, broken off.",
    )

    @override
    def on_call(self, call: LlmExchange, rng: KeyedRng) -> tuple[Effect, ...]:
        asked = call.llm_request
        offered = tool_names(asked)
        name = rng.choice(offered, "tool", call.step) if offered else "action"
        name = _UNKNOWN if self.how == "unknown_tool" else name
        cut = rng.choice(_CUT, "arguments", call.step)
        arguments = cut if self.how == "arguments" else _NOTHING
        reply = as_reply(write_answer(asked, _answer(asked, name, arguments)))
        if self.how == "body":
            reply = replace(reply, body=reply.body[: len(reply.body) * 2 // 3])
        return (reply,)

    @override
    def outcome(self) -> str:
        what = {
            "arguments": "a tool call whose arguments break off",
            "unknown_tool": "a call of a tool that was not offered",
            "body": "JSON that breaks off",
        }
        return f"answered with {what[self.how]}"


def _answer(asked: LlmRequest, name: str, arguments: str) -> LlmAnswer:
    """Return an answer that calls a tool, as text if none were offered."""
    usage = Usage(0, 0)
    if asked.tools:
        calls = (ToolCall("call_1", name, arguments),)
        return LlmAnswer(
            asked.model, tool_calls=calls, finish="tool_calls", usage=usage, complete=True
        )
    end = "}" if arguments == _NOTHING else ""
    text = f'{{"action": "{name}", "arguments": {arguments}{end}'
    return LlmAnswer(asked.model, text, finish="stop", usage=usage, complete=True)
