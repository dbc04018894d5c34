"""The secrets in the environment of WAREX and its commands."""

import base64
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from urllib.parse import quote, quote_plus, urlsplit

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.gitleaks import LARGE_SET, PatternSet
from warex.traces.redaction.names import Secrecy, is_secret, looks_random, name_secrecy

_LEAST = 8
"""Characters of a secret; shorter values also occur in other words."""
REDACT_STRINGS = "WAREX_REDACT_STRINGS"
"""The variable with a user's own texts to redact, one a line."""
_SHORTEST = 4
_PLACE = lazy_re(r"\.{0,2}/|~/?|[A-Za-z]:\\|unix:")
_PLAIN = frozenset({"disabled", "enabled", "required", "optional", "password", "changeme"})


def secrets_of(environment: Mapping[str, str]) -> frozenset[str]:
    """Return the values of variables such as ``OPENAI_API_KEY``, ``PGPASSWORD`` and ``GITHUB_PAT``.

    Each line of ``WAREX_REDACT_STRINGS`` is secret. A value of several lines, such as a PEM key, is
    split into lines; in a URL the password and tokens are secret. Other values of less than eight
    characters are ignored.
    """
    secrets: set[str] = set()
    for name, value in environment.items():
        if name == REDACT_STRINGS:
            secrets |= {line for line in value.splitlines() if len(line) >= _SHORTEST}
            continue
        secrets |= set(_secrets_in_url(value))
        secrecy = name_secrecy(name)
        if secrecy is Secrecy.NOTHING or _PLACE.match(value) or "://" in value:
            continue
        for line in value.splitlines():
            if len(line) < _LEAST or line.lower() in _PLAIN or line.startswith("-----"):
                continue
            if is_secret(secrecy, line):
                secrets.add(line)
    return frozenset(secrets)


def _secrets_in_url(value: str) -> Iterator[str]:
    """Yield the password, else the user, of a URL, and the tokens in its path."""
    if "://" not in value:
        return
    try:
        parts = urlsplit(value)
        secrets = [parts.password or parts.username or ""]
    except ValueError:
        return
    secrets += (part for part in parts.path.split("/") if looks_random(part, 16, 33))
    yield from (secret for secret in secrets if len(secret) >= _LEAST)


class KnownSecrets:
    """Secret values to redact in any text, in all their spellings."""

    def __init__(self, secrets: Iterable[str] = (), *, in_json: bool = False) -> None:
        self._in_json = in_json
        self._secrets: frozenset[str] = frozenset()
        self._first: tuple[bytes, ...] = ()
        self._any: PatternSet | None = None
        self.add(secrets)

    def add(self, secrets: Iterable[str]) -> None:
        """Add secrets."""
        more = frozenset(secrets) | self._secrets
        if more == self._secrets:
            return
        self._secrets = more
        ways = {way for secret in more for way in spellings(secret)}
        # In JSON no text has a bare quote, and none ends within an escape.
        ways = {way for way in ways if _stands_in_json(way) or not self._in_json}
        # The longest first, or the rest of one with a shorter prefix would stay.
        self._first = tuple(sorted(ways, key=lambda way: (-len(way), way)))
        self._any = (
            PatternSet((b"|".join(map(re.escape, self._first)),), memory=LARGE_SET)
            if ways
            else None
        )

    @property
    def longest(self) -> int:
        """Bytes of the longest spelling, with the escape that it may end."""
        return len(self._first[0]) + 8 if self._first else 0

    def in_text(self, text: bytes) -> bool:
        """Whether any of them is in the text; one pass for all."""
        return self._any is not None and bool(self._any.matching(text))

    def replaced(self, text: bytes, instead: bytes, *, in_words: bool = True) -> bytes:
        """Return the text with all of them replaced; JSON stays valid JSON.

        ``in_words``: also where a word or a number is part of another, or a number of JSON.
        """
        for way in self._first if self.in_text(text) else ():
            if way in text:
                text = _replaced(text, way, instead, in_words)
        return text


def _replaced(text: bytes, way: bytes, instead: bytes, in_words: bool) -> bytes:
    """Replace each occurrence, but for the part of it that belongs to an escape of JSON."""
    pieces: list[bytes] = []
    done = 0
    is_word = not in_words and way.isalpha() and way.isascii()
    is_number = not in_words and way.isdigit()
    place = text.find(way)
    while place >= 0:
        end = place + len(way)
        begin = place + _of_escape(text, place)
        before, after = text[place - 1 : place], text[end : end + 1]
        partial = (
            is_word
            and (
                (before.isalpha() and begin == place and not _ends_escape(text, place))
                or after.isalpha()
            )
        ) or (is_number and (before in _OF_NUMBERS or after in _OF_NUMBERS_BEHIND))
        if begin < end and place >= done and not partial:
            pieces += (text[done:begin], instead)
            done = end
        place = text.find(way, end if done == end else place + 1)
    return b"".join((*pieces, text[done:])) if pieces else text


_OF_NUMBERS = frozenset(bytes([sign]) for sign in b"0123456789.:,[-")
_OF_NUMBERS_BEHIND = frozenset(bytes([sign]) for sign in b"0123456789.")
_ENDS_ESCAPE = lazy_re(rb"(?:\\[nrtbf]|\\u[0-9a-fA-F]{4}|%[0-9A-Fa-f]{2})\Z")


def _ends_escape(text: bytes, place: int) -> bool:
    return _ENDS_ESCAPE.search(text, max(0, place - 6), place) is not None


def _of_escape(text: bytes, place: int) -> int:
    """Return how many bytes from a place on belong to an escape of JSON."""
    for digits in range(4):
        at = place - digits
        if digits and text[at:place].strip(_HEX_DIGITS):
            break
        if digits < 4 and text[at - 1 : at] == b"u" and _backslashes(text, at - 1) % 2:
            return 4 - digits
    return 1 if _backslashes(text, place) % 2 else 0


_HEX_DIGITS = b"0123456789abcdefABCDEF"


def _backslashes(text: bytes, place: int) -> int:
    """Return how many backslashes stand before a place."""
    begin = place
    while begin and text[begin - 1] == 0x5C:
        begin -= 1
    return place - begin


def _stands_in_json(way: bytes) -> bool:
    ends_whole = _backslashes(way, len(way)) % 2 == 0
    return ends_whole and all(
        _backslashes(way, quote.start()) % 2 for quote in re.finditer(b'"', way)
    )


def spellings(secret: str) -> frozenset[bytes]:
    """Return the forms of a secret in text, JSON, URLs, HTML and base64."""
    texts = {secret, html.escape(secret), secret.replace("'", "'\\''")}
    for _ in range(2):
        texts |= {
            json.dumps(text, ensure_ascii=way)[1:-1] for text in texts for way in (True, False)
        }
    for safe in ("", "/", "/:@!$'()*,;=+~"):
        once = quote(secret, safe=safe)
        lower = re.sub("%[0-9A-F]{2}", lambda escape: escape[0].lower(), once)
        texts |= {once, lower, quote(once, safe=""), quote_plus(secret, safe=safe)}
    texts |= {json.dumps(text)[1:-1] for text in tuple(texts)}
    ways = {text.encode("utf-8", "surrogatepass") for text in texts}
    raw = secret.encode("utf-8", "surrogatepass")
    return frozenset(ways | set(_in_base64(raw)) | {raw.hex().encode()})


def _in_base64(raw: bytes) -> Iterator[bytes]:
    """Yield the parts that are in the base64 of any text with ``raw`` in it (RFC 4648)."""
    for before in range(3):
        # The first and the last character depend on the text around it.
        begin = -(-before * 8 // 6)
        end = (before + len(raw)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            way = encode(b"\0" * before + raw + b"\0\0")[begin:end]
            if len(way) >= _LEAST:
                yield way


@cache
def process_secrets() -> KnownSecrets:
    """Return the secrets of this process's environment; more can be added."""
    return KnownSecrets(secrets_of(os.environ))
