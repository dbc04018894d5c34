"""Finds the code in a model's answer, and reads the calls in it.

In text, code stands in ``<code>`` and similar tags, or in fences that name its language; all of it
is run. A tool that runs code or commands is recognised by its name and its arguments.
"""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec.structs import replace
from pydantic import JsonValue

from warex.llm.actions.applescript import applescript_calls
from warex.llm.actions.base import Code, CodeCall, Language, inner_context
from warex.llm.actions.devtools_commands import devtools_command
from warex.llm.actions.javascript_code import javascript_calls
from warex.llm.actions.other_languages import OTHER_LANGUAGES, as_javascript
from warex.llm.actions.python_code import (
    NOTHING_DEFINED,
    Definitions,
    python_calls,
    python_definitions,
)
from warex.llm.actions.robot_framework import robot_calls
from warex.llm.actions.shell_commands import shell_calls
from warex.llm.base import ToolCall
from warex.llm.body.lenient_json import as_dict, as_text, parse_json
from warex.text.lazy_pattern import lazy_re

_LANGUAGES: Mapping[str, Language] = {
    **dict.fromkeys(("python", "py", "python3", "py3", "ipython", "tool_code"), "python"),
    **dict.fromkeys(("javascript", "js", "jsx", "node", "mjs"), "javascript"),
    **dict.fromkeys(("typescript", "ts", "tsx"), "javascript"),
    **dict.fromkeys(("bash", "sh", "shell", "zsh", "console", "terminal"), "shell"),
    **dict.fromkeys(OTHER_LANGUAGES, "javascript"),
    **dict.fromkeys(("robot", "robotframework"), "robot"),
    **dict.fromkeys(("applescript", "osascript"), "applescript"),
}
_TAGS: Mapping[str, Language] = {
    **dict.fromkeys(("code", "python", "execute", "execute_ipython", "execute_python"), "python"),
    **dict.fromkeys(("javascript", "execute_javascript"), "javascript"),
    **dict.fromkeys(("bash", "shell", "execute_bash"), "shell"),
}
_IN_TEXT = lazy_re(
    rf"<({'|'.join(_TAGS)})>(?P<tagged>.*?)(?:</\1>|\Z)"
    r"|```[ \t]*(?P<language>\w+)[^\n`]*\n(?P<fenced>.*?)(?:```|\Z)",
    re.DOTALL,
)
_ROBOT_TASKS = lazy_re(
    r"\s*\*{3} (?:Tasks?|Test Cases?|Settings?|Variables|Keywords?) \*{3}[ \t]*$", re.M
)
_FENCE = lazy_re(r"\s*```(?:\w*\n)?(.*?)(?:```\s*)?\Z", re.DOTALL)
_PROMPT = lazy_re(r"(?m)^[ \t]*\$[ \t]+")
_PARTS = lazy_re(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_OF_TOOL: Mapping[str, Language] = {
    **dict.fromkeys(("bash", "shell", "sh", "zsh", "terminal", "console"), "shell"),
    **dict.fromkeys(("cmd", "command", "commands"), "shell"),
    **dict.fromkeys(("python", "ipython", "jupyter", "interpreter", "notebook"), "python"),
    **dict.fromkeys(("javascript", "js", "evaluate"), "javascript"),
    **dict.fromkeys(("applescript", "osascript"), "applescript"),
}
_OF_KEY: Mapping[str, Language | None] = {
    **dict.fromkeys(("command", "cmd", "commands", "shell", "keystrokes"), "shell"),
    **dict.fromkeys(("python", "python_code"), "python"),
    **dict.fromkeys(("function", "javascript", "js", "expression"), "javascript"),
    **dict.fromkeys(("code", "script", "source", "input", "snippet"), None),
}
"""Arguments of tools that hold code; None: the tool's name says in which language."""
_SURELY_CODE = frozenset(("code", "script", "source", "snippet"))
_EVALUATES = lazy_re(
    r"(\$|\$\$)?eval(uate)?(_?handle|_js|_?script)?(_?async)?|run_js"
    r"|execute_?(async_?)?(script|javascript|js)",
    re.IGNORECASE,
)
"""Methods that run JavaScript in the page."""
_RUNS_COMMANDS: Mapping[str, tuple[str, ...]] = {
    "subprocess": ("run", "call", "check_call", "check_output", "Popen", "getoutput"),
    "os": ("system", "popen"),
}
_DEEPEST: Final = 3
_MOST_BLOCKS: Final = 20
_MOST_CALLS: Final = 200


def code_in_text(text: str) -> tuple[Code, ...]:
    """Return the pieces of code in a text whose language is known, in order."""
    if _ROBOT_TASKS.match(text):
        return (Code("robot", text),)
    blocks: list[Code] = []
    for block in _IN_TEXT.finditer(text):
        name = (block["language"] or "").lower()
        language = _TAGS.get(block[1] or "") or _LANGUAGES.get(name)
        source = block["fenced"] if block["tagged"] is None else _bare(block["tagged"])
        if language is not None and len(blocks) < _MOST_BLOCKS:
            source = _PROMPT.sub("", source) if language == "shell" else source
            blocks.append(Code(language, as_javascript(source, name)))
    return tuple(blocks)


def command_in_tool_call(call: ToolCall) -> tuple[CodeCall, ...]:
    """Return what a command of the DevTools Protocol does that a tool sends; empty without."""
    sent = CodeCall(call.name, arguments=(call.arguments,))
    return tuple(_opened(sent, 0)) if devtools_command(sent) is not None else ()


def without_code(text: str) -> str:
    """Return a text without its code."""
    return _IN_TEXT.sub("", text)


def code_in_tool_call(call: ToolCall) -> Code | None:
    """Return the code that a tool is to run; None if it runs none."""
    named = next((_OF_TOOL[part] for part in _parts(call.name) if part in _OF_TOOL), None)
    try:
        arguments = parse_json(call.arguments.encode(errors="replace"))
    except ValueError:
        arguments = None
    if not isinstance(arguments, dict):
        plain = arguments if isinstance(arguments, str) else call.arguments
        return Code(named, _bare(plain)) if named is not None else None
    # OpenAI's hosted shell has its commands one level deeper.
    inner = as_dict(arguments.get("action"))
    for key, value in {**arguments, **inner}.items():
        source = _source(key, value)
        if key not in _OF_KEY or not source:
            continue
        name = as_text(arguments.get("language")).lower()
        written_in = _LANGUAGES.get(name)
        language = written_in or _OF_KEY[key] or named
        if language is None and key in _SURELY_CODE:
            language = _language_of(source)
        if language == "shell" and key in ("command", "cmd") and named != "shell":
            # ``{"command": "click", "selector": …}`` is a browser's own tool.
            language = "shell" if any(char.isspace() for char in source) else None
        if language is not None:
            return Code(language, as_javascript(_bare(source), name))
    return None


def _bare(source: str) -> str:
    """Return code without a fence around it."""
    fenced = _FENCE.fullmatch(source)
    return fenced[1] if fenced else source


def _parts(name: str) -> Iterable[str]:
    return (part.lower() for part in _PARTS.findall(name))


def _source(key: str, value: JsonValue) -> str:
    """Return code given as a text, as a command's words or as a list of commands."""
    if isinstance(value, list):
        texts = [one for one in value if isinstance(one, str)]
        return "\n".join(texts) if key == "commands" else shlex.join(texts)
    return as_text(value)


def _language_of(source: str) -> Language | None:
    if python_calls(source):
        return "python"
    return "javascript" if javascript_calls(source) else None


def read_code(
    pieces: Iterable[Code], defined: Definitions = NOTHING_DEFINED
) -> tuple[CodeCall, ...] | None:
    """Return the calls of pieces of code, in order; None if none of them can be read.

    One interpreter runs all Python, after the code that ``defined`` its names.
    """
    read: list[CodeCall] | None = None
    for piece in pieces:
        calls = _calls(piece, 0, defined)
        defined = definitions_after((piece,), defined)
        if calls is not None:
            read = [*(read or ()), *calls]
    return None if read is None else tuple(read[:_MOST_CALLS])


def definitions_after(pieces: Iterable[Code], defined: Definitions) -> Definitions:
    """Return what is defined in the interpreter after it has run pieces of code."""
    for piece in pieces:
        if piece.language == "python":
            defined = python_definitions(piece.source, defined)
    return defined


def _calls(
    piece: Code, depth: int, defined: Definitions = NOTHING_DEFINED
) -> tuple[CodeCall, ...] | None:
    read: Iterable[CodeCall | Code] | None
    match piece.language:
        case "python":
            read = python_calls(piece.source, defined)
        case "javascript":
            read = javascript_calls(piece.source)
        case "shell":
            read = shell_calls(piece.source)
        case "robot":
            read = robot_calls(piece.source)
        case "applescript":
            read = applescript_calls(piece.source)
    if read is None:
        return None
    return tuple(
        replace(call, context=inner_context(piece.context, call.context))
        for each in read
        for call in _opened(each, depth)
    )


def _opened(call: CodeCall | Code, depth: int) -> Iterator[CodeCall]:
    """Yield a call; of one that runs code itself, the calls of that code."""
    if isinstance(call, CodeCall):
        call = devtools_command(call) or call
    inner = call if isinstance(call, Code) else _code_in_call(call)
    calls = _calls(inner, depth + 1) if inner is not None and depth < _DEEPEST else None
    if calls:
        yield from calls
    elif isinstance(call, CodeCall):
        yield call


def _code_in_call(call: CodeCall) -> Code | None:
    arguments = (*call.arguments, *call.keywords.values())
    if call.is_command or not arguments:
        return None
    if _EVALUATES.fullmatch(call.name):
        return Code("javascript", arguments[0], call.context)
    runs = _RUNS_COMMANDS.get(call.module or call.receiver, ())
    if call.name in runs:
        return Code("shell", _command_line(arguments[0]), call.context)
    return None


def _command_line(argument: str) -> str:
    """Return a command line given as a text, or as the list of its words."""
    if not argument.startswith("["):
        return argument
    words = re.findall(r"'((?:[^'\\]|\\.)*+)'|\"((?:[^\"\\]|\\.)*+)\"", argument)
    return shlex.join(single or double for single, double in words)
