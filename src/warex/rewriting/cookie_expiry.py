"""Has the client forget cookies, by the head of a response."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from warex.exchange import Request, Response
from warex.rewriting.base import ActiveRewrite, ValueChange
from warex.text.lazy_pattern import lazy_re

_SET: Final = lazy_re(r"(?:^|,)\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=")
"""The name of a cookie where several Set-Cookie fields are joined; a date has no ``=``."""
_MOST: Final = 200
"""Fields that are added: a head must not become too long for a client."""


@dataclass(frozen=True, slots=True)
class CookieExpiry:
    """Expires cookies of a request at its client, except those that the response sets again.

    A client does not tell a cookie's path and domain, without which it is not removed: each that
    the request allows is named (RFC 6265, sections 5.1.3, 5.1.4 and 5.3).
    """

    names: tuple[str, ...]
    report: str = ""

    def begin(self, request: Request, response: Response) -> ActiveRewrite | None:
        """Return the edit of the head."""
        if response.status == HTTPStatus.SWITCHING_PROTOCOLS:
            return None
        renewed = {it[1] for it in _SET.finditer(response.headers.get("set-cookie", ""))}
        lost = [name for name in self.names if name not in renewed]
        fields = [("set-cookie", it) for name in lost for it in _expired(name, request)]
        changes = tuple(ValueChange("cookie", name, None) for name in self.names)
        return ActiveRewrite(_Unchanged(changes), extra_headers=fields[:_MOST], keeps_body=True)


@dataclass(frozen=True, slots=True)
class _Unchanged:
    """Passes a body unchanged, beside the cookies that were lost."""

    changes: Sequence[ValueChange]

    @property
    def applied(self) -> bool:
        """Whether a cookie was lost."""
        return bool(self.changes)

    def feed(self, data: bytes) -> bytes:
        """Return the data."""
        return data

    def close(self) -> bytes:
        """Return nothing."""
        return b""


def _expired(name: str, request: Request) -> Iterator[str]:
    """Yield the values of Set-Cookie that remove a cookie, wherever the request may have it from.

    The common places come first.
    """
    is_secure = request.parts.scheme == "https"
    secure = "; Secure" if is_secure else ""
    if name.startswith("__Host-"):
        places = [("/", "")]
    else:
        domains = ["", *(f"; Domain={it}" for it in _domains(request.host))]
        places = [(path, domain) for path in _paths(request.parts.path) for domain in domains]
    for path, domain in places:
        value = f"{name}=; Max-Age=0; Path={path}{domain}{secure}"
        yield value
        if is_secure:
            # A cookie with a partition is another one (CHIPS).
            yield f"{value}; SameSite=None; Partitioned"


def _domains(host: str) -> list[str]:
    labels = host.split(".")
    if labels[-1].isdigit() or ":" in host:  # An address has no domain above it.
        return []
    return [".".join(labels[start:]) for start in range(len(labels) - 1)]


def _paths(path: str) -> list[str]:
    """Return the paths of cookies that a request for a path carries, ``/`` first."""
    steps = [step for step in path.split("/") if step][:6]
    paths = ["/"]
    for number in range(1, len(steps) + 1):
        above = "/" + "/".join(steps[:number])
        paths += [above] if number == len(steps) else [above, f"{above}/"]
    return [it for it in paths if all("!" <= sign <= "~" and sign != ";" for sign in it)]
