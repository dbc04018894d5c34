"""Collects one answer of any API, frame by frame."""

import json
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace
from pydantic import JsonValue

from warex.llm.base import Finish, LlmAnswer, LlmRequest, ToolCall, Usage
from warex.llm.body.lenient_json import as_dict, as_text, parse_first_object
from warex.llm.content.token_estimate import ImagesOf, estimate_input, estimate_output
from warex.llm.families.growing_text import GrowingText
from warex.text.first_words import first_words
from warex.text.lazy_pattern import lazy_re

type FinishReasons = Mapping[str, Finish]
"""The meanings of an API's finish reasons."""

_DOUBTED: Final = "its API reports a value that cannot be a number of tokens"
_QUOTED: Final = 200
"""Characters of an unreadable answer that its error quotes."""
MOST_TEXT: Final = 1024 * 1024
"""Characters of an answer that are read, of its text and the arguments of its calls together. No
model writes so many, and the event loop waits while they are read and redacted."""
_TOO_LONG: Final = f"it has more than {MOST_TEXT:,} characters, of which the first are read"


class PartialCall(Struct):
    """A tool call while it is read."""

    id: str = ""
    name: str = ""
    arguments: GrowingText = field(default_factory=GrowingText)
    by_server: bool = False

    def add(self, id: JsonValue, name: JsonValue, arguments: JsonValue) -> None:
        """Add a piece; arguments are JSON text, a piece of it, or an object."""
        self.id = self.id or as_text(id)
        self.name = self.name or as_text(name)
        # Some gateways send an object in place of its text.
        is_object = isinstance(arguments, dict)
        self.arguments += (
            json.dumps(arguments, ensure_ascii=False) if is_object else as_text(arguments)
        )


class AnswerBuilder(Struct):
    """One answer while it is read."""

    model: str = ""
    text: GrowingText = field(default_factory=GrowingText)
    refusal: GrowingText = field(default_factory=GrowingText)
    reasoning: GrowingText = field(default_factory=GrowingText)
    calls: list[PartialCall] = field(default_factory=list)
    _at_index: dict[int, PartialCall] = field(default_factory=dict)
    finish_reason: str | None = None
    finish: Finish | None = None
    """The meaning of ``finish_reason``; None until known."""
    error_excerpt: str = ""
    """The API's message for ``finish_reason``."""
    usage: Usage | None = None
    is_counted: bool = True
    """Whether ``usage`` includes all the output so far; at the start of a stream it does not."""
    tier: str | None = None
    """The service tier of the answer, as in ``Usage``; None until known."""
    error: str | None = None
    is_malformed: bool = False
    """Whether a number was in place of the model's text."""
    begun: bool = False
    """Whether there is any output or decision of the model."""
    ended: bool = False
    """Whether the end of the answer arrived."""
    is_continued: bool = False
    """Whether the last frame announces more of a stream."""

    def text_piece(self, value: JsonValue) -> str:
        """Return a piece of the model's text; a number marks the answer as malformed."""
        if isinstance(value, str):
            return value
        self.is_malformed = self.is_malformed or isinstance(value, int | float)
        return ""

    def finish_with(self, reason: JsonValue, meanings: FinishReasons) -> bool:
        """Take the API's finish reason; return whether there is one."""
        if word := as_text(reason):
            self.finish_reason, self.finish = word, meanings.get(word, "stop")
        return bool(word)

    def set_tier(self, tier: str | None) -> None:
        """Take the service tier of the answer; None for unknown."""
        self.tier = self.tier if tier is None else tier

    def call(self, index: int, id: str = "") -> PartialCall:
        """Return the call at ``index``; another id starts a new call."""
        known = self._at_index.get(index)
        if known is None or (id and known.id and id != known.id):
            known = self._at_index[index] = PartialCall()
            self.calls.append(known)
        return known

    def start_over(self) -> None:
        """Discard the output: the API repeats all of it."""
        self.text, self.refusal, self.reasoning = GrowingText(), GrowingText(), GrowingText()
        self.calls.clear()
        self._at_index.clear()

    def answer(self, request: LlmRequest, images: ImagesOf) -> LlmAnswer:
        """Return the answer after its last frame."""
        parts = (self.text, self.refusal, *(call.arguments for call in self.calls), self.reasoning)
        (text, refusal, *arguments, reasoning), is_cut = _first_of(map(str, parts))
        error = self.error
        complete = self.ended and error is None
        # For a call without arguments some APIs send nothing, others an empty object.
        nothing = "{}" if complete else ""
        if complete and self.finish == "error":
            error = self.error_excerpt or f"the model ended with {self.finish_reason}"
        calls = tuple(
            ToolCall(call.id, call.name, argument or nothing, call.by_server)
            for call, argument in zip(self.calls, arguments, strict=True)
        )
        usage = self.usage
        doubted = usage is not None and not usage.is_possible
        # Every call has a prompt, so zeros mean that nothing was counted.
        if doubted or (usage and not usage.input_total and not usage.output_total):
            usage = None
        written = estimate_output(text + refusal + reasoning, calls)
        if self.begun and usage is None:
            usage = Usage(
                input_total=estimate_input(request, images),
                output_total=written,
                reasoning=estimate_output(reasoning, ()),
                source="partial" if request.continues or self.finish == "pause" else "estimated",
            )
        if usage is not None and not complete:
            output = usage.output_total if self.is_counted else max(usage.output_total, written)
            usage = replace(usage, output_total=output, source="partial")
        if usage is not None:
            tier = request.tier if self.tier is None else self.tier
            lasting = min(usage.cache_write_1h, usage.cache_write)
            usage = replace(usage, tier=tier, cache_write_1h=lasting)
        if is_cut:
            error = error or _TOO_LONG
            complete = False
        return LlmAnswer(
            model=self.model or request.model,
            text=text or refusal,
            tool_calls=calls,
            finish_reason=self.finish_reason,
            finish=self._finish(error, complete=complete),
            usage=usage,
            error=error,
            complete=complete,
            reasoning=reasoning,
            usage_error=_DOUBTED if doubted else None,
        )

    def _finish(self, error: str | None, *, complete: bool) -> Finish:
        if error is not None:
            return "error"
        if not complete:
            return "cut"
        if self.refusal and not self.text:
            return "refusal"
        if self.finish in (None, "stop") and any(not call.by_server for call in self.calls):
            return "tool_calls"
        return self.finish or "stop"


def _first_of(texts: Iterable[str]) -> tuple[list[str], bool]:
    """Return the first ``MOST_TEXT`` characters of texts, and whether there are more."""
    room, is_cut = MOST_TEXT, False
    read: list[str] = []
    for text in texts:
        first = first_words(text, room)
        is_cut |= len(first) < len(text)
        room -= len(first)
        read.append(first)
    return read, is_cut


def service_tier(value: JsonValue) -> str | None:
    """Return a service tier as in ``Usage``; None for values such as ``auto``."""
    word = as_text(value).lower().removeprefix("on_demand_")
    if word in _USUAL_TIERS:
        return ""
    return word if _TIER.fullmatch(word) and word not in _NO_TIERS else None


_USUAL_TIERS: Final = ("default", "standard", "standard_only", "on_demand")
_NO_TIERS: Final = ("auto", "unspecified", "traffic_type_unspecified")
_TIER = lazy_re(r"[a-z][a-z0-9_-]{0,31}")


def body_excerpt(body: bytes) -> str:
    """Return the API's error message, or the beginning of a body without one."""
    # Gemini streams an error as an array of one.
    message = error_message(parse_first_object(body))
    if not message:
        message = " ".join(body[: 4 * _QUOTED].decode("utf-8", errors="replace").split())
    return message[:_QUOTED] or "empty body"


def error_message(answer: Mapping[str, JsonValue]) -> str:
    """Return the message of an error object: nested, as in most APIs, or flat."""
    error = answer.get("error")
    nested = as_text(as_dict(error).get("message")) or as_text(error)
    flat = next(filter(None, (as_text(answer.get(key)) for key in _FLAT)), "")
    return nested or flat or (json.dumps(error) if error else "")


_FLAT: Final = ("message", "Message", "detail")
"""Keys of the flat message in vLLM, AWS and FastAPI."""
