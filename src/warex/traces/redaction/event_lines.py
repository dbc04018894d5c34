"""An event as a line of JSON without secrets, for a trace and for the control API.

Events come with their secrets: this is the one place that redacts them.
"""

import json
from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import starmap
from types import UnionType
from typing import Any, Final, Literal, TypeAliasType, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import replace

from warex.mcp.content import truncated
from warex.text.first_words import first_words
from warex.text.short_cache import cached_if_short
from warex.traces.events import (
    AgentAction,
    Event,
    Json,
    LlmCall,
    McpCall,
    RequestRefused,
    RequestSeen,
    ResponseSeen,
)
from warex.traces.redaction.redactor import LearnedSecrets, Redactor

_encoder = msgspec.json.Encoder()
_OUR_OWN = frozenset({"body_blob", "exchange", "connection", "injection", "tokens_blob"})
"""Fields with values of WAREX only."""
_FIXED = _OUR_OWN | {
    "agent",
    "benchmark",
    "condition",
    "defence",
    "effects",
    "fault",
    "finish",
    "http_version",
    "never",
    "page",
    "repeat_of",
    "replay_of",
    "resource",
    "rule",
    "scenario",
    "sites",
    "task",
    "usage",
    "versions",
    "vocabulary",
}
"""Fields whose values the user or WAREX chose, which readers compare."""
_MOST_TEXT: Final[Mapping[tuple[type[Event], str], int]] = {
    (RequestRefused, "line"): 200,
    (RequestRefused, "reason"): 200,
    (McpCall, "method"): 200,
    (McpCall, "tool"): 200,
    (McpCall, "error"): 1000,
}
"""The most characters of texts that are recorded in part."""
_MOST_REDACTED: Final = 1024 * 1024
"""The most characters of a text that are redacted and recorded: others wait meanwhile."""
_LONGEST_CACHED: Final = 16 * 1024
"""The most characters of headers that are cached: usual heads are shorter."""


class EventLines:
    """Writes the events of one trial as JSON without secrets.

    Long texts of others are shortened here, since a secret that was cut is not recognised.

    Fields are redacted one by one, and cached: hosts, URLs, heads and messages recur often.
    """

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self._pair = lru_cache(maxsize=2048)(self._new_pair)
        self._head = cached_if_short(maxsize=128)(self._new_head)
        self._nested = cached_if_short(maxsize=1024)(redactor.line)

    def of(self, event: Event) -> str:
        """Return an event as JSON."""
        self.redactor.effort.renew()
        line = self._by_shape(event)
        learned = self.redactor.learned
        if not learned.is_empty and learned.in_text(line.encode("utf-8", "surrogatepass")):
            return without(line, learned)
        return line

    def _by_shape(self, event: Event) -> str:
        redact_url = self.redactor.url
        bare: Event
        match event:
            case RequestSeen(method=method, url=url):
                bare = replace(event, method=redact_url(method), url=redact_url(url), headers=[])
            case ResponseSeen(error=error):
                bare = replace(event, error=error and redact_url(error), headers=[])
            case McpCall():
                return self._by_fields(self._tool_call(event))
            case _:
                return self._by_fields(event)
        head = self._head(_value(event.headers))
        # Quotes are escaped in strings, so the first match is the field.
        return _value(bare).replace('"headers":[]', f'"headers":[{head}]', 1)

    def _by_fields(self, event: Event) -> str:
        plain: dict[str, Json] = {"event": event.event}
        nested: list[str] = []
        for name in event.__struct_fields__:
            value = getattr(event, name)
            if isinstance(value, str):
                plain[name] = value if name in _OUR_OWN else self._text(event, name, value)
            elif isinstance(value, dict | list | tuple):
                nested.append(f',"{name}":{self._json(event, name, value)}')
            else:
                plain[name] = value
        if "shortened" in plain and self.redactor.effort.cuts:
            plain["shortened"] = True
        return f"{_value(plain)[:-1]}{''.join(nested)}}}"

    def _text(self, event: Event, name: str, value: str) -> str:
        value = first_words(value, _MOST_REDACTED)
        match event, name:
            case LlmCall(), "answer":
                answer = self.redactor.answer(value)
                assert isinstance(answer, str)
                return answer
            case McpCall(), "error":
                redacted = self.redactor.text(value)
            case _:
                redacted = self.redactor.url(value)
        return redacted[: _MOST_TEXT.get((type(event), name))]

    def _tool_call(self, call: McpCall) -> McpCall:
        """Return a call whose arguments and result are redacted, and shortened."""
        redact = self.redactor.tool
        arguments, arguments_cut = truncated(redact(call.tool, "arguments", call.arguments))
        result, result_cut = truncated(redact(call.tool, "result", call.result))
        cut = call.shortened or arguments_cut or result_cut
        return replace(call, arguments=arguments, result=result, shortened=cut)

    def _json(self, event: Event, name: str, value: Any) -> str:
        redactor = self.redactor
        match event, name:
            case LlmCall(), "messages":
                return _value(redactor.messages(value))
            case LlmCall(), "tools":
                return _value(redactor.json(value))
            case LlmCall(), "tool_calls":
                return _value(redactor.answer(value))
            case McpCall(), "arguments" | "result":
                return _value(value)  # Redacted already.
            case AgentAction(), "arguments":
                value = redactor.json(redactor.arguments(value))
        return self._nested(_value(value))

    def _new_head(self, fields: str) -> str:
        """Return the fields of a head, which are JSON, without their secrets and brackets."""
        pair = self._pair if len(fields) <= _LONGEST_CACHED else self._new_pair
        return ",".join(starmap(pair, json.loads(fields)))

    def _new_pair(self, name: str, value: str) -> str:
        return _value(list(self.redactor.header(name, value)))


def without(line: str, learned: LearnedSecrets) -> str:
    """Return an event's JSON without the learned secrets in the fields that others fill."""
    try:
        fields: dict[str, Json] = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return learned.replaced(line)  # The rest of a failed write.
    kind = _kinds()[str(fields["event"])]
    for name, value in fields.items():
        if name in _open_fields(kind) and value is not None:
            fields[name] = msgspec.json.decode(learned.replaced(_value(value)))
    return _value(fields)


@cache
def _kinds() -> dict[str, type[Event]]:
    return {str(kind.__struct_config__.tag): kind for kind in get_args(Event.__value__)}


@cache
def _open_fields(kind: type[Event]) -> frozenset[str]:
    """Return the fields of an event whose values may be any text."""
    hints = get_type_hints(kind)
    return frozenset(
        name
        for name in kind.__struct_fields__
        if name not in _FIXED and not _is_closed(hints[name])
    )


def _is_closed(hint: Any) -> bool:
    """Whether a field has a number or one of a few words."""
    while isinstance(hint, TypeAliasType):
        if hint is Json:
            return False
        hint = hint.__value__
    if get_origin(hint) is Literal:
        return True
    if get_origin(hint) in (Union, UnionType):
        return all(map(_is_closed, get_args(hint)))
    return hint in (int, float, bool, type(None))


def _value(value: Any) -> str:
    try:
        return _encoder.encode(value).decode()
    except (UnicodeEncodeError, OverflowError):
        # msgspec rejects lone surrogates, which replace bytes of headers that are not UTF-8;
        # they become question marks when the line is encoded.
        data = msgspec.to_builtins(value)
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
