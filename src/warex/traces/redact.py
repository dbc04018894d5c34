"""Takes secrets out of what is about to be written.

Structure tells most secrets: the name of a header, of a query parameter, of a JSON field. Those
functions are called where an event is built. ``redact_text`` knows keys by their shape alone; the
writer runs it over every line, so that none slips by in a message, an error or an answer. The text
of messages is otherwise left whole, because training needs it.
"""

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import unquote

from pydantic import JsonValue

REDACTED = "[redacted]"

SECRET_HEADERS = frozenset(
    {
        "api-key",
        "authorization",
        "cookie",
        "proxy-authorization",
        "set-cookie",
        "x-api-key",
        "x-goog-api-key",
    }
)

# Compared without case, "-" and "_": apiKey, api_key and API-KEY are one field.
_CREDENTIALS = frozenset(
    {
        "accesskey",
        "accesstoken",
        "apikey",
        "apisecret",
        "apitoken",
        "authorization",
        "authtoken",
        "bearertoken",
        "clientsecret",
        "cookie",
        "csrftoken",
        "idtoken",
        "passphrase",
        "passwd",
        "password",
        "privatekey",
        "pwd",
        "refreshtoken",
        "secret",
        "secretaccesskey",
        "secretkey",
        "sessiontoken",
        "setcookie",
        "token",
        "xapikey",
        "xgoogapikey",
    }
)
_QUERY_CREDENTIALS = _CREDENTIALS | {
    "auth",
    "jsessionid",
    "key",
    "phpsessid",
    "sessionid",
    "sig",
    "signature",
    "xamzcredential",
    "xamzsecuritytoken",
    "xamzsignature",
    "xgoogcredential",
    "xgoogsignature",
}

# Far above any real message and far below where parsers and pydantic give up.
_DEEPEST = 100
_TOO_DEEP = "[nested too deeply]"


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


@lru_cache(maxsize=4096)
def _is_secret_header(name: str) -> bool:
    lower = name.lower()
    return lower in SECRET_HEADERS or lower.endswith(("token", "secret", "apikey", "api-key"))


def redact_headers(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the headers with secret values replaced, and secrets in URLs such as the referer's."""
    return [
        (name, REDACTED)
        if _is_secret_header(name)
        else (name, redact_url(value))
        if "?" in value or "#" in value or "@" in value
        else (name, value)
        for name, value in pairs
    ]


# A URL may stand in a header, a sentence or a line of JSON: it ends where one of those goes on.
_PARAMETER = re.compile(r"""([?&;#])([^?&;#=\s]+)=(["']?)[^&;#\s<>"'\\]+""")
_USER = re.compile(r"""(?<=://)[^/?#\s<>"'\\]+@""")


def _redact_parameter(match: re.Match[str]) -> str:
    separator, name, quote = match.groups()
    if _plain(unquote(name)) in _QUERY_CREDENTIALS:
        return f"{separator}{name}={quote}{REDACTED}"
    return match.group()


def redact_url(url: str) -> str:
    """Return the URL without user name and password and without values such as that of ``key=``."""
    if "@" in url:
        # No brackets here: URL parsers take them for an IPv6 address.
        url = _USER.sub("redacted@", url)
    if "=" in url:
        url = _PARAMETER.sub(_redact_parameter, url)
    return url


def redact_urls(value: JsonValue) -> JsonValue:
    """Return a copy with the secrets of every URL in its text replaced, as in ``--proxy=URL``."""
    if isinstance(value, dict):
        return {name: redact_urls(item) for name, item in value.items()}
    if isinstance(value, list):
        return [redact_urls(item) for item in value]
    return redact_url(value) if isinstance(value, str) and "://" in value else value


def redact_json(value: JsonValue) -> JsonValue:
    """Return a copy with the values of credential fields replaced.

    Only text and numbers are replaced: ``{"password": {"type": "string"}}`` is the schema of a
    tool, not a password. The ``arguments`` of a tool call, which APIs write as JSON in a text, are
    looked into. What lies deeper than 100 levels is left out, since no reader could parse it.
    """
    return _redact_json(value, _DEEPEST)


def redact_json_text(text: str) -> str:
    """Return JSON text with the values of credential fields replaced; any other text as it is."""
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    redacted = redact_json(value)
    return text if redacted == value else json.dumps(redacted, ensure_ascii=False)


def _redact_json(value: JsonValue, levels: int) -> JsonValue:
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return _TOO_DEEP
    if isinstance(value, list):
        return [_redact_json(item, levels - 1) for item in value]
    return {
        name: _redact_credential(item, levels - 1)
        if _plain(name) in _CREDENTIALS
        else redact_json_text(item)
        if name == "arguments" and isinstance(item, str)
        else _redact_json(item, levels - 1)
        for name, item in value.items()
    }


def _redact_credential(value: JsonValue, levels: int) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list):
        return [_redact_credential(item, levels - 1) for item in value] if levels else _TOO_DEEP
    if isinstance(value, dict):
        return _redact_json(value, levels)
    return REDACTED


def _key(literal: str, rest: str) -> tuple[str, re.Pattern[str], str]:
    """Compile a pattern for keys that begin with a literal.

    It stands first because the regex engine searches a literal an order of magnitude faster; what
    may stand before it is looked up afterwards. A letter or digit may not ("task-…" is no key),
    unless it ends an escape of JSON or of a URL.
    """
    prefix = re.escape(literal)
    before = "|".join(
        (
            rf"(?<![A-Za-z0-9]{prefix})",
            rf"(?<=\\[nrtbf]{prefix})",
            rf"(?<=\\u[0-9a-f]{{4}}{prefix})",
            rf"(?<=%[0-9A-Fa-f]{{2}}{prefix})",
        )
    )
    return literal, re.compile(f"{prefix}(?:{before}){rest}"), REDACTED


# No prefix begins with a letter that can end a JSON escape (b f n r t u) where that letter is not
# already ruled out by _key, and nothing here matches a quote or half an escape: a line of JSON
# stays one. Lookaheads are bounded, so that the time stays linear in the text.
_KEYS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    # OpenAI, Anthropic, OpenRouter…; a digit tells them from CSS classes such as sk-folding-cube.
    _key("sk-", r"(?:(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{12,}|[A-Za-z0-9]{20,})"),
    _key("sk_", r"(?:live|test)_[A-Za-z0-9]{12,}"),  # Stripe
    _key("gsk_", r"[A-Za-z0-9]{20,}"),  # Groq
    _key("xai-", r"[A-Za-z0-9]{20,}"),
    _key("hf_", r"[A-Za-z0-9]{20,}"),  # Hugging Face
    _key("AIza", r"[A-Za-z0-9_-]{16,}"),  # Google
    _key("ya29.", r"[A-Za-z0-9_-]{16,}"),
    _key("AKIA", r"[A-Z0-9]{12,}"),  # Amazon
    _key("ASIA", r"[A-Z0-9]{12,}"),
    _key("gh", r"[pousr]_[A-Za-z0-9]{16,}"),
    _key("github_pat_", r"[A-Za-z0-9_]{16,}"),
    _key("glpat-", r"[A-Za-z0-9_-]{16,}"),  # GitLab
    _key("xox", r"[a-z]-[A-Za-z0-9-]{10,}"),  # Slack
    _key("eyJ", r"[A-Za-z0-9_-]{8,}[.][A-Za-z0-9_-]{8,}[.][A-Za-z0-9_-]*"),  # JWT
    # Bearer or bearer, but not "bearer of good-news".
    (
        "earer ",
        re.compile(r"(earer )(?=[A-Za-z._~+/=-]{0,60}[0-9])[A-Za-z0-9._~+/=-]{12,}"),
        rf"\1{REDACTED}",
    ),
    # PEM; its line ends may be escaped, even more than once.
    (
        "PRIVATE KEY-----",
        re.compile(r"(PRIVATE KEY-----)(?:[A-Za-z0-9+/=\s]|\\+[nr])+"),
        rf"\1{REDACTED}",
    ),
)


def redact_text(text: str) -> str:
    """Return the text with whatever has the shape of a key replaced; JSON stays valid JSON."""
    for literal, pattern, instead in _KEYS:
        # Nearly always it is not there, and to look for it alone is twice as fast.
        if literal in text:
            text = pattern.sub(instead, text)
    return text
