"""Formats Chromium's accessibility tree as lines for a model.

Input: the nodes of ``Accessibility.getFullAXTree`` (Chrome DevTools Protocol). Each line is
``[id] role 'name' value='…', state, …``, indented by depth; text is ``StaticText '…'``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

type Node = dict[str, Any]

LONGEST_TEXT = 2_000
"""Characters of one name, value or text that are shown."""

# Chromium's own names for elements that have another role, or none, in ARIA.
_ROLES = {
    "image": "img",
    "Date": "textbox",
    "DateTime": "textbox",
    "InputTime": "textbox",
    "Iframe": "iframe",
    "DisclosureTriangle": "button",
}
_TRANSPARENT = frozenset(
    {
        "none", "generic", "rowgroup", "Section", "SectionHeader", "SectionFooter",
        "HeaderAsNonLandmark", "FooterAsNonLandmark", "LabelText", "Legend", "Figcaption",
        "MenuListPopup", "RootWebArea", "WebArea", "Abbr", "Ruby", "Pre",
        "LayoutTable", "LayoutTableRow", "LayoutTableCell",
    }
)  # fmt: skip
_INVISIBLE = frozenset({"InlineTextBox", "LineBreak", "ListMarker"})
_LEAVES = frozenset({"textbox", "searchbox", "spinbutton", "img"})
_STATES = ("disabled", "readonly", "required", "focused", "selected", "expanded", "checked",
           "pressed", "invalid", "modal")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the tree.

    `backend_id` is the DOM node of an element, None for plain text; `state` its value and states.
    """

    depth: int
    text: str
    backend_id: int | None
    state: str = ""


def written(line: Line, number: str = "", *, id_last: bool = False) -> str:
    """Return a line for the model; with ``id_last``, the id is behind the name."""
    state = f" {line.state}" if line.state else ""
    if not number:
        text = line.text
    elif id_last:
        text = f"{line.text} [{number}]"
    else:
        text = f"[{number}] {line.text}"
    return f"{'  ' * line.depth}{text}{state}"


def lines(nodes: Sequence[Node]) -> Iterator[Line]:
    """Yield the lines of one frame's tree, in page order, without recursion: it may be deep."""
    by_id = {node["nodeId"]: node for node in nodes}
    known = {child for node in nodes for child in node.get("childIds", ())}
    roots = [node for node in nodes if node["nodeId"] not in known]
    waiting = [(node, 0, "") for node in reversed(roots)]
    visited: set[str] = set()
    while waiting:
        node, level, above = waiting.pop()
        if node["nodeId"] in visited:
            continue
        visited.add(node["nodeId"])
        role, name = str(node.get("role", {}).get("value", "none")), _text(node, "name")
        role = _ROLES.get(role, role)
        if role in _INVISIBLE:
            continue
        shown = _shown(node, role, name, above)
        if shown is not None:
            backend_id = node["backendDOMNodeId"] if role != "StaticText" else None
            yield Line(level, shown, backend_id, _state(node, name) if backend_id else "")
        if role in _LEAVES or role == "StaticText":
            continue
        inside = level + (shown is not None)
        covering = name if shown is not None else above
        waiting += [
            (by_id[child], inside, covering)
            for child in reversed(node.get("childIds", ()))
            if child in by_id
        ]


def _text(node: Node, key: str) -> str:
    value = node.get(key, {}).get("value", "")
    return " ".join(str(value).split())[:LONGEST_TEXT]


def _shown(node: Node, role: str, name: str, above: str) -> str | None:
    """Return the line of a node, or None if it is redundant."""
    if node.get("ignored"):
        return None
    if role == "StaticText":
        return f"StaticText {name!r}" if name and name not in above else None
    if "backendDOMNodeId" not in node:
        return None
    properties = _properties(node)
    # A generic element with a name or keyboard focus is usable.
    usable = role == "generic" and (name or properties.get("focusable"))
    if role in _TRANSPARENT and not usable:
        return None
    return f"{role} {name!r}"


def _properties(node: Node) -> Mapping[str, Any]:
    return {p["name"]: p.get("value", {}).get("value") for p in node.get("properties", ())}


def _state(node: Node, name: str) -> str:
    value = _text(node, "value")
    shown = [f"value={value!r}"] if value and value != name else []
    return ", ".join([*shown, *_states(_properties(node))])


def _states(properties: Mapping[str, Any]) -> Iterator[str]:
    for state in _STATES:
        value = properties.get(state)
        if state in ("checked", "pressed", "expanded") and value is not None:
            yield f"{state}={str(value).lower()}"
        elif value not in (None, False, "false", ""):
            yield state
