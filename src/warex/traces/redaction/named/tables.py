"""Finds the columns of secrets in ``{"columns": ["user", "password"], "rows": [["bob", "x"]]}``."""

from collections.abc import Collection, Mapping

from warex.traces.redaction.names import Secrecy, name_secrecy


def secret_columns(value: Mapping[str, object]) -> Mapping[str, Collection[int]]:
    """Return the places of the secrets in each row, by the key of the rows."""
    heads = [head for head in value.values() if _is_head(head)]
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


def _is_head(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 1
        and all(isinstance(name, str) for name in value)
        and any(name_secrecy(name) is Secrecy.SECRET for name in value)
    )
