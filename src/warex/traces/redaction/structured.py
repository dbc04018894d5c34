"""Redacts headers, URLs, JSON and command lines before they are written.

A secret is known from the environment (``environment_secrets``), or detected by its name
(``names``) or shape (``gitleaks``, ``token_patterns``). Equal texts give equal results.
"""

import json
import re
from collections.abc import Iterable
from functools import lru_cache

from pydantic import JsonValue

from warex.traces.redaction.environment_secrets import process_secrets
from warex.traces.redaction.names import (
    Secrecy,
    is_secret,
    looks_random,
    looks_secret,
    name_secrecy,
)
from warex.traces.redaction.text import PLAIN, Pass
from warex.traces.redaction.text import redact_bytes as redact_bytes
from warex.traces.redaction.token_patterns import REDACTED as REDACTED
from warex.traces.redaction.url_paths import announces_token, simple_url

SECRET_HEADERS = frozenset(
    {"api-key", "authorization", "cookie", "proxy-authorization", "set-cookie", "x-api-key"}
    | {"x-goog-api-key"}
)
"""Headers whose value is always secret; for others the name decides."""

# Far above any real message and far below where parsers and pydantic give up.
_DEEPEST = 100
_TOO_DEEP = "[nested too deeply]"


def redact_text(text: str) -> str:
    """Return the text with its secrets replaced; JSON stays valid JSON."""
    return _redacted(text, line=False)


def redact_line(line: str) -> str:
    """Return a line of a trace with the secrets in its texts replaced; its own fields stay."""
    return _redacted(line, line=True)


@lru_cache(maxsize=1024)
def redact_url(url: str) -> str:
    """Return the URL without user name and password and without values such as that of ``key=``."""
    folder = simple_url(url)
    if folder is not None and _is_plain(folder) and not _is_known(url):
        return url
    return redact_text(url)


@lru_cache(maxsize=1024)
def _is_plain(folder: str) -> bool:
    return not announces_token(folder) and redact_text(folder) == folder


def _redacted(text: str, *, line: bool) -> str:
    data = text.encode("utf-8", "surrogatepass")
    redacted = redact_bytes(data, Pass(line=True) if line else PLAIN)
    return text if redacted == data else redacted.decode("utf-8", "surrogatepass")


_HEX = re.compile(
    r"(?:W/)?\"?[0-9a-f-]*\"?|[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT"
)
"""A hash, a UUID, a number or a date: it has no secret's shape."""
_SPLIT = re.compile(r"[\s,;=\"']+")
_IDENTIFIES = re.compile(
    r"""(?ix) (?:^|[-_.])
    (?: accept.* | ch-ua.* | content-security-policy.* | digest | etag | match
      | [a-z]*id(?:-\d)? | hash | checksum | md5 | sha\d* | nel | report-to
      | reporting-endpoints | user-agent | ray
      | trace | traceparent | tracestate | sentry-trace | debug | alt-svc | via | server-timing
      | websocket-key | websocket-accept | websocket-extensions | served-by | cache | last-modified
      | content-disposition | content-type | host | origin | version | revision | build | commit ) $
    """
)
"""Headers with ids and hashes that are not secret."""


def redact_headers(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers with secret values replaced, and secrets in URLs such as the referer's."""
    return [redact_header(name, value) for name, value in pairs]


@lru_cache(maxsize=2048)
def redact_header(name: str, value: str) -> tuple[str, str]:
    """Return a header with its value replaced where it is secret."""
    lower = name.lower()
    if lower in SECRET_HEADERS:
        return name, REDACTED
    if lower == "sec-websocket-protocol":
        return name, _protocols(value)
    secrecy = Secrecy.NOTHING if lower in _NOT_SECRET else name_secrecy(name)
    if secrecy is Secrecy.MAYBE and lower.endswith("key"):
        secrecy = Secrecy.SECRET
    if lower in ("authentication-info", "proxy-authentication-info"):
        secrecy = Secrecy.MAYBE
    if secrecy is Secrecy.SECRET and not _is_count(value):
        return name, REDACTED
    if secrecy is Secrecy.NOTHING and _HEX.fullmatch(value) and not _is_known(value):
        return name, value
    pieces = _SPLIT.split(value)
    if secrecy is Secrecy.MAYBE and any(map(looks_secret, pieces)):
        return name, REDACTED
    cleaned = redact_text(value)
    names_things = cleaned != value or "://" in value or _IDENTIFIES.search(name)
    if not names_things and any(looks_random(piece, 20, 33) for piece in pieces):
        return name, REDACTED
    return name, cleaned


def _is_known(value: str) -> bool:
    return process_secrets().in_text(value.encode("utf-8", "surrogatepass"))


_NOT_SECRET = frozenset(
    {"sec-websocket-key", "permissions-policy", "referrer-policy", "content-security-policy"}
    | {"access-control-allow-credentials", "access-control-allow-headers"}
    | {"access-control-request-headers", "access-control-expose-headers", "sec-session-id"}
)


def _is_count(value: str) -> bool:
    """Whether a value is a small number or a boolean, and so no secret."""
    return value.lower() in ("", "0", "1", "true", "false", "?0", "?1") or (
        value.isdigit() and len(value) < 6
    )


def _protocols(value: str) -> str:
    """Return subprotocols (RFC 6455) without tokens, which scripts in browsers send there."""
    cleaned: list[str] = []
    announced = False
    for each in value.split(","):
        item = each.strip()
        if announced and len(item) >= 8:
            cleaned.append(REDACTED)
            announced = False
        else:
            cleaned.append(_protocol(redact_text(item)))
            announced = name_secrecy(item) is Secrecy.SECRET or item.lower() in _SCHEMES
    return ", ".join(cleaned)


_SCHEMES = frozenset({"auth", "basic", "key", "session", "ticket"})
_WORDY = re.compile(r"[A-Za-z]*[0-9]{0,3}")


def _protocol(item: str) -> str:
    """Return a subprotocol with parts redacted that are not words or versions."""
    if "." not in item:
        words = all(map(_WORDY.fullmatch, re.split("[-_+/]", item)))
        hidden = looks_random(item, 16, 25) or (looks_secret(item) and not words)
        return REDACTED if hidden else item
    parts = item.split(".")
    # Behind ``bearer`` any long part is secret; a host's name is not.
    announced = any(name_secrecy(part) is not Secrecy.NOTHING for part in parts)
    return ".".join(
        REDACTED
        if looks_random(part, 16, 25) or (announced and looks_secret(part) and len(part) >= 16)
        else part
        for part in parts
    )


_seen: dict[str, str | None] = {}
"""Redacted texts; None if equal to the text."""
_MOST_SEEN = 16_000_000
"""Characters in the cache."""
_in_seen = 0


def _redact_leaf(text: str) -> str:
    """Redact a text with a cache: an agent sends the whole conversation each time."""
    global _in_seen
    if text in _seen:
        kept = _seen[text]
        return text if kept is None else kept
    cleaned = redact_text(text)
    if _in_seen > _MOST_SEEN:
        _seen.clear()
        _in_seen = 0
    _in_seen += len(text) + 100
    _seen[text] = None if cleaned == text else cleaned
    return cleaned


def redact_json(value: JsonValue) -> JsonValue:
    """Return a copy with the values of secret fields, and the secrets in its texts, replaced.

    In secret fields only strings and numbers are replaced: ``{"password": {"type": "string"}}`` is
    a tool's schema. The ``arguments`` of a tool call, JSON in a string, are redacted as JSON.
    Values below 100 levels are left out, since readers cannot parse them.
    """
    return _redact_json(value, _DEEPEST)


def redact_image(content: bytes) -> bytes:
    """Return an image that is text, such as SVG, with its secrets replaced; others as they are."""
    try:
        return redact_text(content.decode()).encode()
    except UnicodeDecodeError:
        return content


def redact_arguments(arguments: Iterable[str]) -> list[str]:
    """Return a command line with the values of options such as ``--token`` replaced."""
    redacted: list[str] = []
    is_value = False
    for argument in arguments:
        is_option = argument.startswith("-")
        if is_value and not is_option:
            redacted.append(REDACTED)
            is_value = False
            continue
        name, mark, value = argument.partition("=")
        secret = name_secrecy(name) is Secrecy.SECRET
        redacted.append(f"{name}={REDACTED}" if secret and value else redact_text(argument))
        is_value = secret and is_option and not mark
    return redacted


def redact_json_text(text: str) -> str:
    """Return JSON text with its secrets replaced; any other text likewise."""
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return redact_text(text)
    redacted = redact_json(value)
    return text if redacted == value else json.dumps(redacted, ensure_ascii=False)


def _redact_json(value: JsonValue, levels: int) -> JsonValue:
    if isinstance(value, str):
        return _redact_leaf(value)
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return _TOO_DEEP
    if isinstance(value, list):
        return [_redact_json(item, levels - 1) for item in value]
    return {name: _redact_field(name, item, levels - 1) for name, item in value.items()}


def _redact_field(name: str, value: JsonValue, levels: int) -> JsonValue:
    if is_secret(name_secrecy(name), value if isinstance(value, str) else ""):
        return _redact_credential(value, levels)
    if name == "arguments" and isinstance(value, str):
        return redact_json_text(value)
    return _redact_json(value, levels)


def _redact_credential(value: JsonValue, levels: int) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list):
        return [_redact_credential(item, levels - 1) for item in value] if levels else _TOO_DEEP
    if isinstance(value, dict):
        return _redact_json(value, levels)
    return REDACTED
