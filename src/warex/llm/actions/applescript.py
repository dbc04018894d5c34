"""Reads what a script of AppleScript does to a browser, without running it.

Handlers (``on name() … end name``) are not read where they are called.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from warex.llm.actions.base import Code, CodeCall, Context
from warex.text.lazy_pattern import lazy_re

MOST_CODE: Final = 12_000
"""Characters of a script that are read."""
_MOST_CALLS = 200
_TEXT = r'"((?:[^"\\\n]|\\.)*+)"'
_COMMENT = lazy_re(r'("(?:[^"\\\n]|\\.)*+")|(?:--|#).*')
_ESCAPE = lazy_re(r"\\(.)")
_KEYSTROKE = lazy_re(
    rf"\b(?:keystroke {_TEXT}|keystroke (return)|key code (\d{{1,3}}))(?: using \{{?([\w ,]*+))?"
)
_MODIFIER = lazy_re(r"(command|control|option|shift) down")
_KEY_CODES: Mapping[str, str] = {"36": "enter", "96": "F5", "123": "left", "124": "right"}
"""Virtual key codes of macOS."""
_SET_ADDRESS = lazy_re(r"\bset (?:the )?URL of .{1,200}? to (.{1,2000})")
_NEW_TAB = lazy_re(rf"\bmake new .{{0,200}}?\bURL: ?(?:{_TEXT}|(\w+))")
_OPEN = lazy_re(rf"\bopen location (?:{_TEXT}|(\w+))")
_SET = lazy_re(r"set (\w{1,60}) to (.{1,2000})")
_OWN_ADDRESS = lazy_re(r"\(?(?:get )?(?:the )?(?:URL of .*|its URL)\)?")
_SCRIPT = lazy_re(rf"\b(?:do|execute\b.{{0,200}}) javascript {_TEXT}", re.IGNORECASE)
_SHELL = lazy_re(rf"\bdo shell script {_TEXT}")
_DELAY = lazy_re(r"delay ([\d.]+)")
_CLICK = lazy_re(rf"\bclick (?:button|menu item|UI element|checkbox) {_TEXT}")
_VERB = lazy_re(r"(?:.* to )?(reload|go back|go forward)\b.*")
_HANDLER = lazy_re(r"(?:on|to) (?!error\b|run\b)(\w{1,60})\b.*")
_BLOCKS: Mapping[str, Context] = {"if": "branch", "repeat": "loop"}


def applescript_calls(source: str) -> tuple[CodeCall | Code, ...] | None:
    """Return what the statements of a script do, in order; None if none of it is known."""
    if len(source) > MOST_CODE:
        return None
    calls: list[CodeCall | Code] = []
    for statement, context, values in _statements(source):
        if (call := _call(statement, context, values)) is not None and len(calls) < _MOST_CALLS:
            calls.append(call)
    return tuple(calls) or None


def _statements(source: str) -> Iterator[tuple[str, Context, Mapping[str, str]]]:
    """Yield statements with where they stand and the expressions to which names are bound."""
    values: dict[str, str] = {}
    blocks: list[Context] = []
    handler = ""
    for line in _without_comments(source).splitlines():
        statement = line.strip()
        opens = _HANDLER.fullmatch(statement)
        if handler or (opens and not statement.startswith("to ")):
            if statement in (f"end {handler}", "end"):
                handler = ""
            elif opens and not handler:
                handler = opens[1]
            continue
        first = statement.partition(" ")[0]
        if first == "end":
            del blocks[-1:]
        elif statement.startswith("on error"):
            blocks[-1:] = ["handler"]
        elif first in ("tell", "try", "on", "with", "ignoring", "considering") and not (
            first == "tell" and " to " in statement
        ):
            blocks.append("")
        elif first == "else":
            continue
        elif first in _BLOCKS and (first == "repeat" or statement.endswith("then")):
            blocks.append(_BLOCKS[first])
        else:
            if bound := _SET.fullmatch(statement):
                values[bound[1]] = bound[2]
            context: Context = next((each for each in reversed(blocks) if each), "")
            if first == "if":
                statement, context = statement.partition(" then ")[2], context or "branch"
            yield statement, context, values


def _without_comments(source: str) -> str:
    while (begin := source.find("(*")) >= 0:
        end = source.find("*)", begin)
        if end < 0:
            break
        source = source[:begin] + source[end + 2 :]
    return _COMMENT.sub(lambda match: match[1] or "", source)


def _call(statement: str, context: Context, values: Mapping[str, str]) -> CodeCall | Code | None:
    if match := _SCRIPT.search(statement):
        return Code("javascript", _unescaped(match[1]), context)
    if match := _SHELL.search(statement):
        return Code("shell", _unescaped(match[1]), context)
    name, argument = _named(statement, values)
    arguments = (argument,) if argument else ()
    return CodeCall(name, "", arguments, context=context) if name else None


def _named(statement: str, values: Mapping[str, str]) -> tuple[str, str]:
    """Return a statement's action and argument; two empty texts if it is not an action."""
    if match := _KEYSTROKE.search(statement):
        modifiers = _MODIFIER.findall(match[4] or "")
        if match[1] is not None and not modifiers:
            return "type", _unescaped(match[1])
        key = match[1] or match[2] or _KEY_CODES.get(match[3], match[3])
        return "key", "+".join((*modifiers, key))
    if match := _SET_ADDRESS.search(statement):
        return _going_to(values.get(match[1], match[1]))
    for pattern in (_NEW_TAB, _OPEN):
        if match := pattern.search(statement):
            return _going_to(f'"{match[1]}"' if match[2] is None else values.get(match[2], ""))
    if match := _CLICK.search(statement):
        return "click", _unescaped(match[1])
    if match := _DELAY.fullmatch(statement):
        return "delay", match[1]
    verb = _VERB.fullmatch(statement) if '"' not in statement.partition(" to ")[2] else None
    return (verb[1].replace(" ", "_"), "") if verb else ("", "")


def _going_to(expression: str) -> tuple[str, str]:
    if _OWN_ADDRESS.fullmatch(expression):
        return "reload", ""
    return "goto", _unescaped(expression.strip('"'))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)
