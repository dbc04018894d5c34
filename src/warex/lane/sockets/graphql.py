"""The operations of GraphQL over a WebSocket.

Sources: the subprotocols ``graphql-transport-ws`` (PROTOCOL.md of graphql-ws) and the older
``graphql-ws`` (PROTOCOL.md of subscriptions-transport-ws).
"""

from typing import Final

from warex.lane.record.operation_name import operation_of
from warex.llm.body.lenient_json import as_dict, as_text, parse_object

PROTOCOLS: Final = ("graphql-transport-ws", "graphql-ws")
"""The subprotocols, as a site's response accepts them."""
LONGEST: Final = 100_000
"""Bytes of a message that is looked at."""
_MOST_OPEN: Final = 1000
"""Operations of one WebSocket that are remembered."""
_BEGINS: Final = ("subscribe", "start")
_ENDS: Final = ("complete", "error", "stop")


class GraphqlOperations:
    """The open operations of one WebSocket."""

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        """By the identifiers that the client gives them."""

    def name(self, content: bytes, *, from_client: bool) -> str:
        """Return the operation that a message begins or belongs to; empty for none."""
        if len(content) > LONGEST:
            return ""
        message = parse_object(content)
        kind, key = as_text(message.get("type")), as_text(message.get("id"))
        if from_client and kind in _BEGINS:
            name = operation_of(as_dict(message.get("payload")))
            if key and len(self._open) < _MOST_OPEN:
                self._open[key] = name
            return name
        if kind in _ENDS:
            return self._open.pop(key, "")
        return self._open.get(key, "")


def graphql_operations(protocol: str) -> GraphqlOperations | None:
    """Return the operations of a WebSocket of GraphQL; None for another subprotocol."""
    return GraphqlOperations() if protocol.strip() in PROTOCOLS else None
