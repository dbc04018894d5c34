"""Finds the password of a user: ``{"auth": "bob:x"}``, ``{"basic_auth": ["bob", "x"]}``."""

from typing import Final

from warex.text.lazy_pattern import lazy_re

_NAMES: Final = frozenset(
    {"auth", "basicauth", "httpauth", "httpbasicauth", "proxyauth", "login", "userpass"}
)
"""Names of a user with a password, without hyphens and underscores."""
_TOGETHER = lazy_re(r"([\w.+@-]{1,64}):([^\s:/\\]{4,128})")
_PORT = lazy_re(r"[0-9]{1,5}")


def password_of(name: str, value: object) -> str:
    """Return the password of a login; empty if it has none."""
    if name.lower().replace("-", "").replace("_", "") not in _NAMES:
        return ""
    match value:
        case str():
            match = _TOGETHER.fullmatch(value)
            return "" if match is None or _PORT.fullmatch(match[2]) else match[2]
        case [str(), str() as password]:
            return password
    return ""
