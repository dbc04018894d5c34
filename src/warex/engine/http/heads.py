"""The heads of HTTP messages: as they came, and parsed beside it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Final, Literal

from msgspec import Struct

from warex.text.short_cache import LONGEST

type HttpVersion = Literal["HTTP/0.9", "HTTP/1.0", "HTTP/1.1", "HTTP/2.0"]

# Each position of a head is looked at once, whatever a peer sends.
_FIELD = re.compile(r"^([^:\n]++):[ \t]*+(.*\S|)[ \t]*+\r\n", re.MULTILINE | re.ASCII)
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")


@lru_cache(maxsize=1024)
def _lower_token(name: str) -> str:
    """Return the lower-case name of a field, empty for an invalid name."""
    return name.lower() if _TOKEN.fullmatch(name) else ""


class Headers:
    """The fields of a head: immutable, in order, names in the case that came (RFC 9110 §5)."""

    def __init__(self, fields: Iterable[tuple[bytes, bytes]] = ()) -> None:
        vars(self)["fields"] = tuple(fields)

    @classmethod
    def of_text(cls, pairs: Iterable[tuple[str, str]]) -> "Headers":
        """Return the fields of names and values as Latin-1 text."""
        headers = cls.__new__(cls)
        vars(headers)["pairs"] = tuple(pairs)
        return headers

    @cached_property
    def fields(self) -> tuple[tuple[bytes, bytes], ...]:
        """Names and values, as they came."""
        return tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in self)

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Names and values as Latin-1 text."""
        return tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in self.fields
        )

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """Yield names and values as Latin-1 text, as they came."""
        return iter(self.pairs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Headers) and self.pairs == other.pairs

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __repr__(self) -> str:
        return f"Headers({list(self.fields)!r})"

    @cached_property
    def by_name(self) -> Mapping[str, str]:
        """The values by lower-case name; repeated ones are joined (RFC 9110 §5.2).

        Cookies that HTTP/2 has divided are joined as one field (RFC 9113 §8.2.3).
        """
        values = {name.lower(): value for name, value in self.pairs}
        return values if len(values) == len(self.pairs) else _joined(self.pairs)

    def get(self, name: str, default: str = "") -> str:
        """Return the value of a field by its lower-case name."""
        return self.by_name.get(name, default)

    def get_all(self, name: str) -> list[str]:
        """Return the values of a field by its lower-case name, one a line."""
        return [value for key, value in self if key.lower() == name]

    def without(self, *names: str) -> "Headers":
        """Return the fields without those of these lower-case names."""
        return Headers(
            (name, value)
            for name, value in self.fields
            if name.decode("latin-1").lower() not in names
        )

    def with_field(self, name: str, value: str) -> "Headers":
        """Return the fields with one value in the place of all of its name, or at the end."""
        pair = (name.encode("latin-1"), value.encode("latin-1"))
        fields: list[tuple[bytes, bytes]] = []
        replaced = False
        for key, old in self.fields:
            if key.lower() != pair[0].lower():
                fields.append((key, old))
            elif not replaced:
                fields.append((key, pair[1]))
                replaced = True
        return Headers(fields if replaced else [*fields, pair])

    def with_added(self, name: str, value: str) -> "Headers":
        """Return the fields with one more at the end."""
        return Headers((*self.fields, (name.encode("latin-1"), value.encode("latin-1"))))


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    values: dict[str, str] = {}
    for key, value in pairs:
        name = key.lower()
        comma = "; " if name == "cookie" else ", "
        values[name] = f"{values[name]}{comma}{value}" if name in values else value
    return values


def parse_fields(raw: bytes, start: int) -> Headers | None:
    """Parse the fields of a head from ``start`` on; None if a line is not in the grammar.

    The grammar is RFC 9112 §5, without folded lines. ``raw`` ends with the empty line.
    """
    first, lines = raw[:start], raw[start:]
    if first.count(b"\r") != first.count(b"\n") or b"\0" in first:
        return None
    # Heads of one client to one site are often equal but for the first line.
    return _parsed(lines) if len(lines) <= LONGEST else _parsed.__wrapped__(lines)


@lru_cache(maxsize=128)
def _parsed(lines: bytes) -> Headers | None:
    ends = lines.count(b"\n")
    if lines.count(b"\r") != ends or b"\0" in lines:
        return None
    pairs = _FIELD.findall(lines.decode("latin-1"))
    if len(pairs) != ends - 1 or not (lines == b"\r\n" or lines.endswith(b"\r\n\r\n")):
        return None
    # The cache keeps no name of a long head, which may be long itself.
    lower_token = _lower_token if len(lines) <= LONGEST else _lower_token.__wrapped__
    values = {lower_token(name): value for name, value in pairs}
    if "" in values:
        return None
    headers = Headers.of_text(pairs)
    vars(headers)["by_name"] = values if len(values) == len(pairs) else _joined(pairs)
    return headers


NO_FIELDS = Headers()

NEVER_TRAILERS: Final = frozenset((b"content-length", b"host", b"transfer-encoding"))
"""Fields of a request that a recipient could take out of its trailers (RFC 9110 §6.5.1)."""


class RequestHead(Struct, frozen=True):
    """The head of a request."""

    method: str
    scheme: Literal["http", "https", "mcp+stdio"]
    """The last scheme is not HTTP: a message to a server of tools (docs/reference/mcp.md)."""
    authority: str
    """As the client names the site: ``Host``, ``:authority`` or the URL's; it may hold a port."""
    path: str
    """Path and query as they came; ``*`` for OPTIONS of the whole site."""
    version: HttpVersion
    headers: Headers
    """Without pseudo-fields."""
    raw: bytes = b""
    """As it came; empty on HTTP/2 and for a changed head."""

    @property
    def url(self) -> str:
        """The URL as the client knows it; without its scheme's own port."""
        default = ":443" if self.scheme == "https" else ":80"
        path = "" if self.path == "*" else self.path
        return f"{self.scheme}://{self.authority.removesuffix(default)}{path}"


class ResponseHead(Struct, frozen=True):
    """The head of a response."""

    status: int
    reason: bytes
    version: HttpVersion
    headers: Headers
    raw: bytes = b""
    """As it came; empty on HTTP/2 and for a changed head."""
