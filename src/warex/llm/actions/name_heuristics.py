"""Classifies actions by their names and arguments.

Agents use many names for the same actions: ``reload``, ``refresh_page``, ``browser_navigate``,
``page.goto(…)``, ``GoBack``. A benchmark's vocabulary takes precedence.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Final, Literal

from pydantic import JsonValue

from warex.llm.actions.reload_words import says_reload
from warex.llm.body.lenient_json import as_dict
from warex.text.lazy_pattern import lazy_re

type ActionKind = Literal["reload", "goto", "back", "click", "type", "wait", "finish", "look"]

_NAMES: Mapping[ActionKind, str] = {
    "reload": "reload refresh retry",
    "goto": "goto launch navigate navigation visit open browse load google search"
    " fetch crawl scrape requests curl wget urlopen http_request",
    "back": "back goback navback forward goforward previous",
    "click": "act click dblclick doubleclick tap press keypress keys key hotkey submit enter"
    " dispatch left_mouse_down left_mouse_up mouse_down mouse_up",
    "type": "fill type typewrite write input select clear check uncheck upload insert set choose",
    "wait": "wait sleep noop pause delay",
    "finish": "done completion stop finish finished answer complete terminate exit infeasible"
    " send_msg_to_user ask_user call_user ask_human say reply give_up giveup abort",
    "look": "scroll hover screenshot snapshot extract focus read find evaluate switch close drag"
    " move zoom cursor cursor_position mouse_move nextchunk prevchunk",
}
_DOES = {name: kind for kind, names in _NAMES.items() for name in names.split()}
_STRONGEST: tuple[ActionKind, ...] = (
    *("reload", "back", "wait", "finish", "goto", "type", "click", "look"),
)
"""The order of precedence for names with several parts: ``navigate_back``, ``wait_for_load``."""
_PARTS = lazy_re(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_OF_WHAT = lazy_re(r"(?:web)?(?:url|page|site|link|address)$")
"""What a name may say that its action is for: ``openurl``."""
_MODES: Mapping[str, ActionKind] = {
    **dict.fromkeys(("reload", "refresh"), "reload"),
    **dict.fromkeys(("back", "forward"), "back"),
}
"""Values by which an action of navigation says what it does."""
ELEMENT_ARGUMENTS: Final = frozenset(
    (
        *("selector", "css_selector", "xpath", "ref", "uid", "element", "element_id", "elementid"),
        *(
            "bid",
            "index",
            "target_id",
            "node_id",
            "nodeid",
            "backend_node_id",
            "coordinate",
            "coordinates",
        ),
    )
)
"""Names of an argument that says which element of a page a tool is used on."""
_NAMED_WITHIN = frozenset(("action", "actions", "command", "commands", "code", "script", "method"))
_INPUT = frozenset(("text", "value", "values", "input", "content", "option"))
_OPENS = frozenset(("new", "open", "create", "launch"))
"""Values of ``action`` by which a tool for tabs opens one."""
_NEW_TAB = frozenset(("tab", "window"))
_BETWEEN_KEYS = lazy_re(r"[+,\s-]+")
_CONTROL = frozenset(
    ("ctrl", "control", "controlleft", "cmd", "command", "meta", "super", "controlormeta")
)
_SHIFT = frozenset(("shift", "shiftleft"))
_ALT = frozenset(("alt", "altleft", "option"))
_MODIFIERS: Mapping[str, frozenset[str]] = {"ctrl": _CONTROL, "alt": _ALT}
_KEYS: Mapping[str, ActionKind] = {
    **dict.fromkeys(("f5", "refresh", "reload", "browserrefresh", "xf86reload"), "reload"),
    **dict.fromkeys(("browserback", "browserforward", "xf86back", "xf86forward"), "back"),
}
_WITH_CONTROL: Mapping[str, ActionKind] = {"r": "reload", "f5": "reload", "[": "back", "]": "back"}
_WITH_ALT: Mapping[str, ActionKind] = dict.fromkeys(
    ("left", "right", "arrowleft", "arrowright"), "back"
)
"""What a browser does for these keys, as Playwright, Selenium, xdotool and agents write them."""
_REQUESTS = frozenset(("get", "post", "put", "patch", "delete", "head", "request", "stream"))
"""Methods of HTTP clients; ``get`` also of Selenium's driver."""
_ADDRESS = lazy_re(r"https?://\S+")
_READERS = lazy_re(r"read_(?:csv|excel|feather|fwf|html|json|parquet|table|xml)")
"""Functions of data frames that read an address, too."""
_LOCATION = frozenset(("href", "assign", "replace"))
_OWN_ADDRESS = lazy_re(
    r"(?:await\s+)?(?:str\()?(?:\$?\w+(?:\(\))?\.)*"
    r"(?:\$?(?:page|tab|document|window|browser|frame|self|driver|cy|client|wd|(?:Must)?Info\(\))\.url"
    r"|(?:get_?)?current_?(?:page_?)?url|get_?url|documentURI"
    r"|location(?:\((?:['\"]?href['\"]?)?\))?(?:\.href)?"
    r"|(?:evaluate|eval|execute_?script)\((?P<quote>['\"]?)(?:\(\)\s*=>\s*)?(?:return\s+)?"
    r"(?:(?:window|document)\.)?(?:location(?:\.href)?|document\.URL);?(?P=quote)\))(?:\(\))?\)?"
    r"|(?:\$\(|`)[^`)]*\bget[ -]url\b[^`)]*[`)]",
    re.IGNORECASE,
)
"""The page's own address, as code has it: ``page.url``, ``driver.current_url``."""


def is_own_address(source: str) -> bool:
    """Whether an expression of code is the address of the page that is open."""
    return _OWN_ADDRESS.fullmatch(source) is not None


@lru_cache(maxsize=4096)
def action_kind(name: str) -> ActionKind | None:
    """Return what an action with this name does, or None; ``look`` changes nothing at the site.

    Of a tool of an MCP server, ``mcp__SERVER__TOOL``, the tool's own name counts.
    """
    name = name.rpartition("__")[2] or name
    for spelling in (name.lower(), _OF_WHAT.sub("", name.lower())):
        if spelling in _DOES:
            return _DOES[spelling]
    if says_reload(name.replace("_", " ")):
        return "reload"
    parts = [part.lower() for part in _PARTS.findall(name)]
    kinds = {_DOES[part] for part in parts if part in _DOES}
    if "go" in parts and not kinds:
        kinds = {"goto"}
    if "new" in parts and _NEW_TAB.intersection(parts):
        kinds.add("goto")
    return next((one for one in _STRONGEST if one in kinds), None)


def action_kind_with_arguments(name: str, arguments: JsonValue) -> ActionKind | None:
    """Return what an action does by its keys or button if these are known, else by its name.

    A method with a receiver is classified too: ``driver.get``. Going to the page's own address is a
    reload. A tool with an unknown name is classified by what it is given: an address, an element.
    """
    by_name = _method_kind(name, arguments) if "." in name else action_kind(name)
    if by_name == "goto" and any(map(is_own_address, _texts(arguments))):
        return "reload"
    if by_name == "goto" and isinstance(arguments, dict):
        modes = (text.lower() for text in _texts(arguments))
        return next((_MODES[mode] for mode in modes if mode in _MODES), by_name)
    if by_name is None and isinstance(arguments, dict):
        by_name = _kind_of_arguments(arguments)
    if by_name not in (None, "click"):
        return by_name
    if as_dict(arguments).get("button") in ("back", "forward"):
        return "back"
    return next(filter(None, map(_pressed, _keys(arguments))), by_name)


def _kind_of_arguments(arguments: Mapping[str, JsonValue]) -> ActionKind | None:
    """Return what a tool with an unknown name does, by what it is given.

    None where the arguments name the action themselves.
    """
    names = {name.lower() for name in arguments}
    texts = [*_texts(dict(arguments))]
    has_address = any(map(_ADDRESS.fullmatch, texts))
    if names & _NAMED_WITHIN:
        return "goto" if has_address and arguments.get("action") in _OPENS else None
    if has_address:
        return "goto"
    if not names & ELEMENT_ARGUMENTS:
        return None
    return "type" if names & _INPUT else "click"


def _method_kind(name: str, arguments: JsonValue) -> ActionKind | None:
    receiver, _, method = name.rpartition(".")
    if name == "cy.get":
        return "look"
    if receiver.endswith("history") and method == "go":
        return "back" if any(text != "0" for text in _texts(arguments)) else "reload"
    if (
        method.lower() in _REQUESTS
        or method == "src"
        or (method.lower() == "url" and bool(arguments))
        or (method == "to" and receiver.endswith("navigate"))
        or (receiver.endswith("location") and method in _LOCATION)
    ):
        return "goto"
    if _READERS.fullmatch(method) and any(text.startswith("http") for text in _texts(arguments)):
        return "goto"
    return action_kind(method)


def _texts(arguments: JsonValue) -> Iterator[str]:
    values = list(arguments.values()) if isinstance(arguments, dict) else arguments
    for value in values if isinstance(values, list) else [values]:
        if isinstance(value, str):
            yield value


def _keys(arguments: JsonValue) -> Iterator[str]:
    """Yield each string among an action's arguments, and those of each list joined by ``+``."""
    values = list(arguments.values()) if isinstance(arguments, dict) else [arguments]
    for value in values:
        texts = [one for one in value if isinstance(one, str)] if isinstance(value, list) else value
        if isinstance(texts, str):
            yield texts
        elif isinstance(texts, list):
            # In code, what the keys are sent to comes first: ``ActionChains(driver)``.
            yield from ("+".join(texts[first:]) for first in range(min(3, len(texts))))
            yield from texts


def key_combinations(arguments: JsonValue) -> frozenset[str]:
    """Return what keys an action's arguments may be, as ``f6``, ``ctrl+l`` and ``alt+d``."""
    pressed = (_split_keys(keys) for keys in _keys(arguments))
    return frozenset(
        "+".join((*(name for name, keys in _MODIFIERS.items() if modifiers & keys), key))
        for modifiers, key in pressed
        if modifiers <= _CONTROL | _ALT
    )


def _pressed(keys: str) -> ActionKind | None:
    """Return what keys such as ``ctrl+r`` do, or None; Shift makes no difference."""
    modifiers, key = _split_keys(keys)
    if not modifiers:
        return _KEYS.get(key)
    if modifiers <= _CONTROL:
        return _WITH_CONTROL.get(key)
    return _WITH_ALT.get(key) if modifiers <= _ALT else None


def _split_keys(keys: str) -> tuple[frozenset[str], str]:
    """Return the modifiers of keys that are pressed together, without Shift, and the last key."""
    bare = keys.lower().strip("<>{}[]'\" ")
    *modifiers, key = (
        re.sub(r"_[lr]$", "", key.strip("'\"").removeprefix("keys.").removeprefix("key."))
        for key in _BETWEEN_KEYS.split(bare)
    )
    return frozenset(modifiers) - _SHIFT, key
