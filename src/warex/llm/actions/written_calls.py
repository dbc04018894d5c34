"""Finds tool calls that a model writes into its text, as harnesses without an API's tools read.

- ``<tool_call>{"name": …, "arguments": …}</tool_call>`` (Hermes, Qwen), with
  ``<arg_key>``/``<arg_value>`` (GLM);
- ``<invoke name="…"><parameter name="…">…`` (Claude), ``<function=…><parameter=…>…`` (Qwen Coder);
- ``Action: …`` and ``Action Input: …`` on the next line (ReAct, LangChain), in many languages;
- ``{"command": {"name": …, "args": …}}`` as JSON, in a fence, alone or last (AutoGPT), so too
  ``functionCall`` (Gemini), and ``tool_calls`` of a whole message (OpenAI);
- ``##FUNCTION NAME {…}`` on a line (Agent-E);
- ``ELEMENT: …``, ``ACTION: …`` and ``VALUE: …`` on lines (SeeAct);
- ``<browser_action><action>…</action><url>…</url></browser_action>`` (Cline, Roo);
- ``<action type="click" id="12"/>``, ``<tool name="…"><url>…</url></tool>``, ``<reload/>``;
- the steps of a plan in YAML (``yaml_plans``);
- ``[TOOL_CALLS][{…}]`` (Mistral), ``<|tool_call_begin|>functions.NAME:0…`` (Kimi).
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Final

from pydantic import JsonValue

from warex.llm.actions.name_heuristics import action_kind
from warex.llm.actions.yaml_plans import plan_steps
from warex.llm.base import ToolCall
from warex.llm.body.lenient_json import as_dict, as_list, as_text, parse_json
from warex.text.lazy_pattern import lazy_re

_MOST: Final = 50
_LONGEST_INNER: Final = 1000
"""Characters in which the children of an element are looked for."""
_TAGGED = lazy_re(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_PAIR = lazy_re(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_NAME = lazy_re(r"\s*([\w.-]{1,80})")
_INVOKED = lazy_re(
    r"<(?:[\w-]{1,20}:)?(?:invoke|tool|tool_use|function_call) name=\"([\w.-]{1,80})\">"
    r"(.*?)(?:</(?:[\w-]{1,20}:)?(?:invoke|tool|tool_use|function_call)>|\Z)",
    re.DOTALL,
)
_FUNCTION = lazy_re(r"<function=([\w.-]{1,80})>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = lazy_re(
    r"<(?:[\w-]{1,20}:)?parameter(?: name=\"|=)([\w.-]{1,80})\"?>\n?(.*?)\n?"
    r"</(?:[\w-]{1,20}:)?parameter>",
    re.DOTALL,
)
_PARAMETER_END = lazy_re(r"</(?:[\w-]{1,20}:)?parameter>")
_MISTRAL = lazy_re(r"\[TOOL_CALLS\]\s*(\[.*)", re.DOTALL)
_KIMI = lazy_re(
    r"<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]{1,80}?)(?::\d+)?\s*"
    r"<\|tool_call_argument_begin\|>(.*?)(?:<\|tool_call_end\|>|\Z)",
    re.DOTALL,
)
ACTION_LABELS: Final = (
    "Action|Aktion|Acci[óo]n|Azione|A[çc][ãa]o|Actie|Akcja"
    "|Действие|行[动動]|[动動]作|操作|アクション|행동"
)
"""What stands before an action, in many languages; one of a regular expression."""
_REACT = lazy_re(
    rf"^[ \t*]*(?:{ACTION_LABELS})[ \t]*\d*[ \t]*[*]{{0,2}}[:\uff1a]"
    r"[ \t*`]*([\w.-]{1,80})[ \t*`]*\n+"
    r"[^\n:\uff1a]{0,30}(?:Input|Eingabe|Entr[ée]e|Entrada|Invoer|Ввод|[输輸]入|入力|입력)"
    r"[^\n:\uff1a]{0,30}[:\uff1a][ \t*]*(.*?)"
    r"(?=^[ \t*]*(?:Observation|Beobachtung|Observaci[óo]n|[观観]察)|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)

_HASHES = lazy_re(r"^##FUNCTION[ \t]+(\w{1,80})[ \t]*(\{[^\n]*\})?", re.MULTILINE)
_ELEMENT_ACTION = lazy_re(
    r"^[ \t*]*ELEMENT:[ \t*]*([^\n]{1,400})\n+[ \t*]*ACTION:[ \t*]*(\w{1,40})[ \t.*]*"
    r"(?:\n+[ \t*]*VALUE:[ \t*]*([^\n]*))?",
    re.MULTILINE,
)

_FENCED = lazy_re(r"```(?:json)?\s*(\{.*?\})\s*(?:```|\Z)", re.DOTALL)
_OBJECT_LINE = lazy_re(r"^[ \t]*\{", re.MULTILINE)
_HOLDS_CALL: Final = (
    *("command", "tool", "tool_call", "function", "function_call", "functionCall", "ability"),
)
_HOLDS_ARGUMENTS: Final = ("args", "arguments", "parameters", "input", "kwargs")
_ELEMENT = lazy_re(
    r"<([a-z]\w{1,40}_\w{1,40})>((?:\s*<([a-z]\w{0,40})>(?:(?!</?\3>).)*</\3>)+)\s*</\1>", re.DOTALL
)
_CHILD = lazy_re(r"<([a-z]\w{0,40})>(.*?)</\1>", re.DOTALL)

_ATTRIBUTES = r"(?P<attributes>(?:\s+[\w-]{1,40}=(?:\"[^\"<>]{0,2000}\"|'[^'<>]{0,2000}'))*+)\s*"
_ATTRIBUTE = lazy_re(r"([\w-]{1,40})=(?:\"([^\"]*)\"|'([^']*)')")
_MARKED = lazy_re(
    r"<(?P<tag>action|act|step|command|function|function_call|invoke|browser_action|tool|tool_call"
    rf"|use_tool){_ATTRIBUTES}(?:/>|>(?P<inner>.{{0,1000}}?)</(?P=tag)>)",
    re.DOTALL,
)
_BARE_ELEMENT = lazy_re(
    rf"^[ \t]*<(?P<tag>(?!input|select|search)[a-z][\w-]{{1,40}}){_ATTRIBUTES}"
    r"(?:/>|></(?P=tag)>)[ \t]*$",
    re.MULTILINE,
)
_NAMES: Final = ("type", "name", "action", "command", "tool")
"""Attributes and children of an element that say which action it is."""
_WORD = lazy_re(r"[A-Za-z][\w-]{1,40}")


def written_calls(text: str) -> tuple[ToolCall, ...]:
    """Return the tool calls in a text, in order, of the first form that it has."""
    for form in _FORMS:
        calls = [
            ToolCall(str(number), name, arguments)
            for number, (name, arguments) in enumerate(form(text))
            if number < _MOST
        ]
        if calls:
            return tuple(calls)
    return ()


def _tagged(text: str) -> Iterator[tuple[str, str]]:
    for block in _TAGGED.findall(text):
        value = _json(block)
        if name := as_text(as_dict(value).get("name")):
            call = as_dict(value)
            arguments = call.get("arguments", call.get("parameters"))
            yield name, arguments if isinstance(arguments, str) else json.dumps(arguments or {})
        elif (pairs := _PAIR.findall(block)) and (name_at := _NAME.match(block)):
            yield name_at[1], json.dumps({key.strip(): one.strip() for key, one in pairs})


def _invoked(text: str) -> Iterator[tuple[str, str]]:
    for form in (_INVOKED, _FUNCTION):
        for name, inner in form.findall(text):
            # What follows the last end tag would be searched from each begin tag.
            ended = max((it.end() for it in _PARAMETER_END.finditer(inner)), default=0)
            parameters = _PARAMETER.findall(inner[:ended])
            if not parameters and inner.lstrip().startswith("{"):
                yield name, inner.strip()
            else:
                children = parameters or _CHILD.findall(inner[:_LONGEST_INNER])
                yield name, json.dumps(dict(children))


def _mistral(text: str) -> Iterator[tuple[str, str]]:
    for calls in _MISTRAL.findall(text)[:1]:
        for each in as_list(_json(calls.strip())):
            call = as_dict(each)
            if name := as_text(call.get("name")):
                yield name, json.dumps(call.get("arguments") or {})


def _kimi(text: str) -> Iterator[tuple[str, str]]:
    yield from _KIMI.findall(text)


def _react(text: str) -> Iterator[tuple[str, str]]:
    if match := _REACT.search(text):
        name, arguments = match[1], match[2].strip().strip("`").strip()
        arguments = arguments.removeprefix("json\n")
        quoted = (
            arguments[:1] == arguments[-1:] and arguments[:1] in ("'", '"') and len(arguments) > 1
        )
        yield name, arguments[1:-1] if quoted else arguments


def _in_object(text: str) -> Iterator[tuple[str, str]]:
    objects = _FENCED.findall(text)
    if not objects and text.endswith("}") and (begin := _OBJECT_LINE.search(text)):
        objects = [text[begin.start() :]]
    for written in objects:
        parsed = as_dict(_json(written))
        for each in as_list(parsed.get("tool_calls")):
            yield from _named(as_dict(as_dict(each).get("function")))
        holder = next((key for key in _HOLDS_CALL if as_dict(parsed.get(key)).get("name")), None)
        if holder is not None:
            yield from _named(as_dict(parsed[holder]))
        elif any(isinstance(parsed.get(each), dict) for each in _HOLDS_ARGUMENTS):
            yield from _named(parsed)


def _named(call: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    """Yield the call in an object with its name."""
    arguments = next((call[each] for each in _HOLDS_ARGUMENTS if each in call), {})
    if name := as_text(call.get("name")):
        yield name, arguments if isinstance(arguments, str) else json.dumps(arguments)


def _hashes(text: str) -> Iterator[tuple[str, str]]:
    for name, arguments in _HASHES.findall(text):
        yield name, arguments or "{}"


def _element_action(text: str) -> Iterator[tuple[str, str]]:
    for element, name, value in _ELEMENT_ACTION.findall(text):
        text_argument = {} if value.strip() in ("", "None") else {"value": value.strip()}
        yield name.lower(), json.dumps({"element": element.strip(), **text_argument})


def _elements(text: str) -> Iterator[tuple[str, str]]:
    for match in _ELEMENT.finditer(text):
        arguments = {name: value.strip() for name, value in _CHILD.findall(match[2])}
        yield arguments.pop("action", match[1]), json.dumps(arguments)


def _marked(text: str) -> Iterator[tuple[str, str]]:
    elements = {
        match.start("tag"): _of_element(match, match["tag"] if form is _BARE_ELEMENT else "")
        for form in (_BARE_ELEMENT, _MARKED)
        for match in islice(form.finditer(text), _MOST)
    }
    calls = [elements[at] for at in sorted(elements)]
    # Other elements of an answer are not actions.
    if any(action_kind(name) for name, _ in calls):
        yield from ((name, arguments) for name, arguments in calls if name)


def _of_element(match: re.Match[str], name: str = "") -> tuple[str, str]:
    """Return the action that an element is, if it is not its tag, and its arguments as JSON."""
    arguments = {
        key: double or single for key, double, single in _ATTRIBUTE.findall(match["attributes"])
    }
    inner = (match.groupdict().get("inner") or "").strip()
    arguments |= {key: value.strip() for key, value in _CHILD.findall(inner[:_LONGEST_INNER])}
    is_text = bool(inner) and not inner.startswith("<")
    key = None if name else next((each for each in _NAMES if each in arguments), None)
    if key is not None:
        name = arguments.pop(key)
    elif not name and is_text and _WORD.fullmatch(inner):
        name, is_text = inner, False
    return name, json.dumps({**arguments, "value": inner} if is_text else arguments)


_FORMS: tuple[Callable[[str], Iterator[tuple[str, str]]], ...] = (
    _tagged,
    _invoked,
    _mistral,
    _kimi,
    _react,
    _hashes,
    _in_object,
    _element_action,
    _elements,
    _marked,
    plan_steps,
)


def _json(text: str) -> JsonValue:
    try:
        return parse_json(text.strip().encode(errors="replace"))
    except ValueError:
        return None
