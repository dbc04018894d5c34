"""Which of an endpoint's operations a request asks for, where one URL serves several.

A GraphQL server has one URL for all its queries and mutations, a JSON-RPC server for all its
methods, a server of tools (MCP) one method for all its tools: two requests with the same method and
URL may have nothing to do with each other.

Sources: GraphQL over HTTP (GraphQL Foundation, section 5.3), JSON-RPC 2.0 section 4, MCP "Tools".
"""

import re
from collections.abc import Iterator

from pydantic import JsonValue

from warex.llm.body.lenient_json import as_dict, as_text, parse_json
from warex.text.lazy_pattern import lazy_re

_LONGEST = 100_000
"""Bytes of a body that is looked at."""
_MAX_OPERATIONS = 5
"""Operations of one batch that are named."""
_NAME = lazy_re(r"[\w./-]{1,80}")
_DOCUMENT = lazy_re(
    r"(?:\s|#[^\n]*\n)*+(?:(query|mutation|subscription)\b\s*+(\w*)[^{]{0,2000}+)?\{\s*+(\w+)"
)
"""A GraphQL document: its kind and name where it has them, and its first field."""


def operation_name(body: bytes, content_type: str) -> str:
    """Return the operations a body asks for, such as ``mutation PlaceOrder``; empty for none.

    The kind is before the name if the body has it. A batch gives its first names in order,
    separated by commas. Nothing is raised, whatever the body is.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if not body or len(body) > _LONGEST:
        return ""
    if kind == "application/graphql":
        return _in_document(body.decode(errors="replace"))
    if kind != "application/json" and not kind.endswith("+json") and kind != "text/plain":
        return ""
    try:
        parsed = parse_json(body)
    except ValueError:
        return ""
    asked = parsed if isinstance(parsed, list) else [parsed]
    return ",".join(name for name in map(_name_of, asked[:_MAX_OPERATIONS]) if name)


def operation_of(request: dict[str, JsonValue]) -> str:
    """Return the operation of a parsed request of GraphQL or JSON-RPC; empty for none."""
    return next((name for name in _names(request) if name), "")


def _name_of(operation: JsonValue) -> str:
    return operation_of(as_dict(operation))


def _names(operation: dict[str, JsonValue]) -> Iterator[str]:
    document = as_text(operation.get("query"))
    if name := _plain(as_text(operation.get("operationName"))):
        # One document may define several operations; the name chooses.
        kind = re.search(rf"\b(query|mutation|subscription)\s+{re.escape(name)}\b", document)
        yield f"{kind[1]} {name}" if kind else name
    yield _in_document(document)
    if "jsonrpc" in operation:
        method = _plain(as_text(operation.get("method")))
        tool = (
            as_text(as_dict(operation.get("params")).get("name")) if method == "tools/call" else ""
        )
        yield f"{method} {tool}" if _plain(tool) else method


def _in_document(text: str) -> str:
    match = _DOCUMENT.match(text)
    if match is None:
        return ""
    kind, name, field = match.groups()
    return f"{kind or 'query'} {name or field}"


def _plain(name: str) -> str:
    return name if _NAME.fullmatch(name) else ""
