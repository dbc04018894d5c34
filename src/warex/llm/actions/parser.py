"""Parses the agent's actions out of its model's answer.

The benchmark's vocabulary lists the names of actions. The forms, each read as its harness does:

- tool calls, also written into the text (``written_calls``), and JSON objects ``{"action":
  [{"go_to_url": {...}}]}`` (browser-use);
- calls in code that the agent runs, and commands in a shell (``code_blocks``);
- ``click('12')`` in a code block, in ``<action>`` or on a line of its own (BrowserGym, REAL);
- ``click [12]`` in the same places (WebArena, SteP);
- ``Action: Click [12]``, ``Action: GoBack`` (WebVoyager).
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from pydantic import JsonValue

from warex.llm.actions.base import Action, Code
from warex.llm.actions.code_blocks import code_in_text, code_in_tool_call, read_code
from warex.llm.actions.vocabulary import Vocabulary
from warex.llm.actions.written_calls import ACTION_LABELS, written_calls
from warex.llm.base import LlmAnswer, ToolCall
from warex.llm.body.lenient_json import as_dict, as_text, parse_json
from warex.text.lazy_pattern import lazy_re


def parse_actions(answer: LlmAnswer, vocabulary: Vocabulary) -> tuple[Action, ...]:
    """Return the actions that the agent takes on this answer, in order; none if it was cut.

    Tool calls take precedence over text. In text, all code in a known language counts, else the
    last ``<action>`` or code block with an action, else the last line that consists of one. Of an
    agent that carries out only the first, that one is returned.
    """
    if not answer.complete or answer.error is not None:
        return ()
    names = vocabulary.names
    text = without_thoughts(answer.text)
    called = tuple(
        action
        for call in answer.tool_calls or written_calls(text)
        if not call.by_server
        for action in _in_tool_call(call, names)
    )
    if vocabulary.first_only:
        return (called or tuple(actions_on_lines(text, names)) or _in_text(text, names))[:1]
    return called or _in_code(code_in_text(text), names) or _in_text(text, names)


def without_thoughts(text: str) -> str:
    """Return a text without the model's reasoning in ``<think>``."""
    return _THOUGHT.sub("", text).strip()


def _in_tool_call(call: ToolCall, names: frozenset[str]) -> tuple[Action, ...]:
    arguments = _json(call.arguments)
    # OpenAI's custom tools take any text.
    plain = arguments is None and call.arguments not in ("", "null")
    if call.name in names:
        return (Action(call.name, (call.arguments,) if plain else as_dict(arguments)),)
    code = code_in_tool_call(call)
    if code is not None and (actions := _in_code((code,), names)):
        return actions
    if plain:
        return _in_text(call.arguments, names)
    fields = as_dict(arguments)
    # A tool for a whole computer is given ``{"type": "click", "x": 12, "y": 30}``.
    is_action = len(fields) > 1 and as_text(fields.get("type")) in names and "action" not in fields
    return tuple(_in_json({"action": arguments} if is_action else arguments, names))


def _in_code(code: Iterable[Code], names: frozenset[str]) -> tuple[Action, ...]:
    """Return the calls in code that have one of the names, alone or with their receiver."""
    return tuple(
        call.as_action(name)
        for call in read_code(code) or ()
        for name in (call.name, call.full_name)[: 1 if call.name in names else 2]
        if name in names
    )


def _json(text: str) -> JsonValue:
    try:
        return parse_json(text.encode(errors="replace"))
    except ValueError:
        return None


def _json_within(text: str) -> JsonValue:
    """Return the JSON object within a text, or None."""
    begin, end = text.find("{"), text.rfind("}")
    return _json(text[begin : end + 1]) if 0 <= begin < end else None


_NAME_KEYS = ("name", "method", "action_type", "action", "type")
"""Keys for an action's name: ``method`` in Stagehand; ``action_type`` in Skyvern; the latter two in
computer use. All but the first two count only under ``action`` or ``actions``."""
_ARGUMENT_KEYS = ("arguments", "parameters", "action_input")


def _in_json(value: JsonValue, names: frozenset[str]) -> Iterator[Action]:
    """Yield the actions of an agent's JSON: under ``action``, or a tool call written as text."""
    fields = as_dict(value)
    action = fields.get("action", fields.get("actions"))
    if isinstance(action, str) and action in names:
        rest = {key: item for key, item in fields.items() if key not in ("action", *_ARGUMENT_KEYS)}
        arguments: JsonValue = next(
            (fields[key] for key in _ARGUMENT_KEYS if fields.get(key)), rest
        )
        yield Action(
            action, (arguments,) if isinstance(arguments, str) else _arguments_of(arguments)
        )
    elif isinstance(action, str):
        yield from _in_text(action, names)
    elif action is not None:
        for one in action if isinstance(action, list) else [action]:
            yield from _in_item(one, names)
    else:
        yield from _in_item(fields, names, keyed=False)


def listed_names(text: str) -> Iterator[str]:
    """Yield the names, known or not, of the actions in a list of an answer's JSON."""
    fields = as_dict(_json_within(without_thoughts(text)))
    listed = fields.get("action", fields.get("actions"))
    for each in listed if isinstance(listed, list) else ():
        item = {key: one for key, one in as_dict(each).items() if one is not None}
        named = next(filter(None, (as_text(item.get(key)) for key in _NAME_KEYS)), None)
        if named or len(item) == 1:
            yield named or next(iter(item))


def _arguments_of(arguments: JsonValue) -> tuple[str, ...] | Mapping[str, JsonValue]:
    if isinstance(arguments, list):
        return tuple(one for one in arguments if isinstance(one, str))
    return as_dict(arguments)


def _in_item(value: JsonValue, names: frozenset[str], *, keyed: bool = True) -> Iterator[Action]:
    item = as_dict(value)
    keys = _NAME_KEYS if keyed else _NAME_KEYS[:2]
    name_key = next((key for key in keys if as_text(item.get(key)) in names), None)
    if name_key is not None:
        rest = {key: one for key, one in item.items() if key not in (name_key, *_ARGUMENT_KEYS)}
        candidates = (item.get(key) for key in _ARGUMENT_KEYS)
        yield Action(as_text(item[name_key]), _arguments_of(next(filter(None, candidates), rest)))
    elif keyed:
        for key, arguments in item.items():
            # Structured outputs list every action and set all but one to null.
            if key in names and arguments is not None:
                yield Action(key, as_dict(arguments))


_THOUGHT = lazy_re(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL)
_TAGGED = lazy_re(
    r"<(?:action|tool_call)>(.*?)(?:</(?:action|tool_call)>|\Z)", re.DOTALL | re.IGNORECASE
)
_FENCED = lazy_re(r"```(.*?)```", re.DOTALL)
_LABEL = lazy_re(
    rf"[-*>`# \t]*(?:{ACTION_LABELS}|instruction|grounded operation)[ \t]*[:\uff1a][ \t*`]*",
    re.IGNORECASE,
)
_NAME = lazy_re(r"[A-Za-z_]\w*")
_LINE_REST = lazy_re(r"[ \t`*.;]*(?:(?<=[ \t;])(?:#|//)[^\n]*)?(?=\n|\Z)")
"""Nothing more on the line, or a comment in code."""
_BRACKETED = lazy_re(r"[ \t]*+(?:;[ \t]*+)?\[(.*?)\][ \t]*+(?:;[ \t]*+(\w++))?[ \t`*.;]*+(?=\n|\Z)")
_BRACKETED_BLOCK = lazy_re(r"[ \t]*\[(.*)\]", re.DOTALL)
_LOOSE = lazy_re(r"[ \t]*((?:[;\d]|\[\w+\][ \t]*;)[^\n]*)")
_BETWEEN_BRACKETS = lazy_re(r"\]\s*+(?:;\s*+)?\[")


def _in_text(text: str, names: frozenset[str]) -> tuple[Action, ...]:
    if actions := tuple(_in_json(_json_within(text), names)):
        return actions
    for blocks in (_TAGGED, _FENCED):
        for block in reversed(blocks.findall(text)):
            if actions := _in_block(block, names):
                return actions
    return tuple(actions_on_lines(text, names))[-1:]


def _in_block(block: str, names: frozenset[str]) -> tuple[Action, ...]:
    """Return all actions of a block; a first line such as ``python`` is ignored."""
    inner = block.strip().strip("`").strip()
    if actions := tuple(_in_json(_json_within(inner), names)):
        return actions
    if actions := tuple(actions_on_lines(inner, names)):
        return actions
    name = _NAME.match(inner)
    if name and name[0] in names and (match := _BRACKETED_BLOCK.fullmatch(inner, name.end())):
        return (Action(name[0], _split_brackets(match[1])),)
    return ()


def actions_on_lines(text: str, names: frozenset[str]) -> Iterator[Action]:
    """Yield the actions on lines of their own; a call may span several lines."""
    at, calls = 0, 0
    while at < len(text):
        newline = text.find("\n", at)
        reach = newline if calls >= _MOST_CALLS and newline >= 0 else len(text)
        action, end, called = _at_line(text, at, names, reach)
        calls += called
        if action is not None:
            yield action
        newline = text.find("\n", end)
        at = len(text) if newline < 0 else newline + 1


def _at_line(
    text: str, at: int, names: frozenset[str], reach: int
) -> tuple[Action | None, int, bool]:
    """Return the action on the line at ``at``, its end before ``reach``, and if it is a call."""
    label = _LABEL.match(text, at)
    begin = label.end() if label else at
    while begin < len(text) and text[begin] in " \t`*>-":
        begin += 1
    match = _NAME.match(text, begin)
    if match is None or match[0] not in names:
        return None, at, False
    name, end = match[0], match.end()
    if text.startswith("(", end):
        return *_call(text, name, end, reach), True
    if _LINE_REST.match(text, end):
        return Action(name), end, False
    if brackets := _BRACKETED.match(text, end):
        more = (brackets[2],) if brackets[2] else ()
        return Action(name, _split_brackets(brackets[1]) + more), brackets.end(), False
    if label and (loose := _LOOSE.match(text, end)):
        parts = tuple(part.strip(" \t[]") for part in loose[1].split(";"))
        return Action(name, tuple(filter(None, parts))), loose.end(), False
    return None, at, False


def _split_brackets(inner: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in _BETWEEN_BRACKETS.split(inner))


def _call(text: str, name: str, at: int, reach: int) -> tuple[Action | None, int]:
    """Read ``(…)`` from ``at``; a call with more text behind it is only a mention."""
    parts, end = _arguments(text, at, reach)
    if parts is None or not _LINE_REST.match(text, end):
        # An unescaped apostrophe: all text between the line's brackets is one argument.
        line_end = text.find("\n", at)
        line = text[at : line_end if line_end >= 0 else len(text)].rstrip(" \t`*.;")
        if parts is not None or not line.endswith(")"):
            return None, at
        parts, end = [line[1:-1]], at + len(line)
    split = [_KEYWORD.match(part) for part in parts]
    if parts and all(split):
        return Action(name, {s[1]: _unquoted(s[2]) for s in split if s}), end
    values = (s[2] if s else part for s, part in zip(split, parts, strict=True))
    return Action(name, tuple(map(_unquoted, values))), end


_KEYWORD = lazy_re(r"([A-Za-z_]\w*)\s*=\s*(?!=)(.*)", re.DOTALL)
_PIECE = lazy_re(
    r'"""(?:\\.|[^\\])*?"""'
    r"|'''(?:\\.|[^\\])*?'''"
    r'|"(?:\\.|[^"\\])*"'
    r"|'(?:\\.|[^'\\])*'"
    r"|[^\"'\[\](){},]+|[\[\](){},]",
    re.DOTALL,
)
"""A string, a bracket or comma, or the text between them."""
_DEEPEST = 16
"""Levels of brackets; deeper ones are prose, and slow to read."""
_MOST_PIECES = 2000
"""Strings, commas and brackets of one call."""
_MOST_CALLS = 50
"""Calls in a text that may span several lines."""


def _arguments(text: str, at: int, reach: int) -> tuple[list[str] | None, int]:
    """Return the arguments in the brackets at ``at`` as written; None if they do not close."""
    parts: list[str] = []
    part, depth, at = "", 1, at + 1
    for _ in range(_MOST_PIECES):
        match = _PIECE.match(text, at, reach) if depth <= _DEEPEST else None
        if match is None:
            break
        piece, at = match[0], match.end()
        depth += (piece in "([{") - (piece in ")]}")
        if depth == 0:
            return list(filter(None, [*parts, part.strip()])), at
        if piece == "," and depth == 1:
            parts.append(part.strip())
            part = ""
        else:
            part += piece
    return None, at


_ESCAPE = lazy_re(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_QUOTES = ('"""', "'''", '"', "'")


def _unquoted(argument: str) -> str:
    for quote in _QUOTES:
        ends = argument.startswith(quote) and argument.endswith(quote)
        if ends and len(argument) >= 2 * len(quote):
            bare = argument[len(quote) : -len(quote)]
            return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), bare)
    return argument
