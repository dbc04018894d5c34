"""Finds the columns of secrets in ``{"columns": ["user", "password"], "rows": [["bob", "x"]]}``."""

from collections.abc import Collection, Mapping

from warex.traces.redaction.names import Secrecy, name_secrecy


def secret_columns(value: Mapping[str, object]) -> Mapping[str, Collection[int]]:
    """Return the places of the secrets in each row, by the key of the rows."""
    heads = [head for head in map(_head_of, value.values()) if head]
    if len(heads) != 1:
        return {}
    (head,) = heads
    places = [n for n, name in enumerate(head) if name_secrecy(name) is Secrecy.SECRET]
    return {
        key: places
        for key, rows in value.items()
        if isinstance(rows, list)
        and rows
        and all(isinstance(row, list) and len(row) == len(head) for row in rows)
    }


def _head_of(value: object) -> list[str]:
    """Return the names of columns, one of which is a secret's; empty for any other text."""
    names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
    is_head = isinstance(value, list) and len(names) == len(value) > 1
    secret = any(name_secrecy(name) is Secrecy.SECRET for name in names) if is_head else False
    return names if secret else []
