"""Finds secrets by their context: users in URLs, random values in queries, stated passwords."""

import re
from collections.abc import Iterator

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import looks_random, looks_secret

type _Span = tuple[int, int]

# ---- users

_USER = lazy_re(rb"://([^/?#\s<>\"'\\]+|[^/?#\s<>\"'\\:@]+:(?![0-9]{1,5}#)[^/?\s<>\"'\\@]{1,128})@")
_ALONE_BEFORE = lazy_re(rb"(?:\A|[\"'(<=,])[A-Za-z][A-Za-z0-9+.-]*\Z")
_ALONE_BEHIND = lazy_re(rb"[^\s\"'<>)\\]*(?:[\"'<>)\\]|\Z)")


def user_spans(text: bytes) -> Iterator[_Span]:
    """Yield the spans of user and password before a URL's host (RFC 3986).

    A user without a password is included if the text is a single URL, or if it may be a token.
    """
    for match in _USER.finditer(text):
        user = match[1]
        if (
            b":" in user
            or b"%3a" in user.lower()
            or looks_secret(user.decode("utf-8", "replace"))
            or (
                _ALONE_BEFORE.search(text, max(0, match.start() - 20), match.start())
                and _ALONE_BEHIND.match(text, match.end())
            )
        ):
            yield match.span(1)


# ---- random values

RANDOM_VALUE = rb"[?&][\w.-]+=[A-Za-z0-9_~+/-]{24,}"
_RANDOM_VALUE = lazy_re(
    rb"[?&]([\w.-]{1,64})=([A-Za-z0-9_~+/-]{24,}={0,2})(?=[&#;\s\"'<>)\]\\,]|\Z)"
)
_LONG_HEX = lazy_re(r"(?=[0-9]*[a-fA-F])(?=[a-fA-F]*[0-9])(?:[0-9a-f]{32,}|[0-9A-F]{32,})")
_ORDINARY = lazy_re(
    r"""(?x) (?:^|[-_.])
    (?: .*id s? | .*clid | after | before | bust(?:er)? | build | cache.* | cb | ck | commit
      | continuation | ctoken | cursor | data | digest | e?tag | ei | end | etag | expand | file
      | filters? | from | f?hash | h | i | img | image | integrity | item | last | list | marker
      | md5 | name | next | offset | page.* | params? | payload | pbj | prev(?:ious)? | q | query
      | ref | rel | release | request | rev(?:ision)? | s?cursor | search.* | seed | sha\d* | since
      | sort | sp | span | sri | start | sum | t | tbm | text | title | to | trace.* | ts
      | url | utm.* | v | ved | ver | version | video | w | _ga | _gl | ga | gl | _ ) $
    """
)
"""Keys of cursors, ids, traces, hashes and versions, whose random values are not secret."""


def random_values(text: bytes) -> Iterator[_Span]:
    """Yield the spans of long random values in a query under an unknown key."""
    for match in _RANDOM_VALUE.finditer(text):
        value = match[2].decode()
        if _ORDINARY.search(_snake(match[1].decode())) is None and (
            looks_random(value, 24, 33) or _LONG_HEX.fullmatch(value)
        ):
            yield match.span(2)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


# ---- sentences

_WHAT = (
    rb"(?:pass(?:word|wd|code|phrase)|pwd|pin(?:[ -]code)?|otp|cvv|cvc"
    rb"|(?:one[ -]time|verification|security|confirmation|login|access|recovery)[ ]code)"
)
PASSWORD_STATEMENT = rb"(?i)\b" + _WHAT + rb"(?:[ ](?:is|was|are)\b|[ ]?[:=])"
_STATED = lazy_re(
    rb"(?i)(?<![\w-])("
    + _WHAT
    + rb")(?:[ ](?:is|was)(?:[ ]now)?:?|[ ]?[:=])[ ]{0,2}"
    + rb"(?:\\*[\"'`])?([^\s\"'`<>\\,;|(){}\[\]]{4,64})"
)
_OF_DIGITS = lazy_re(rb"[0-9]{4,8}[.!?]?")
_MIXED = lazy_re(r"(?=.*[A-Za-z])(?:(?=.*[0-9])|(?=.*[a-z])(?=.*[A-Z])(?=.*[!@#$%^&*+=~?])).{8,}")
_SPEAKS = lazy_re(r"(?i)[a-z]+(?:-[a-z]+)*|.*(?:sha|md|base|utf|aes|rsa|bcrypt|argon)-?[0-9].*")
_NOT_A_VALUE = lazy_re(r"\[?redacted|[$%*<{]|.*://|[0-9]+(?:st|nd|rd|th|px|ms|min|-[a-z-]+)\b")


def stated_passwords(text: bytes) -> Iterator[_Span]:
    """Yield the spans of passwords and PINs that a sentence states."""
    done = 0
    for candidate in compiled(PASSWORD_STATEMENT).finditer(text):
        match = _STATED.match(text, candidate.start()) if candidate.start() >= done else None
        if match is None:
            continue
        done = match.end()
        value = match[2].decode("utf-8", "replace").rstrip(".!?:")
        kind = match[1].lower()
        size = len(match[2].rstrip(b".!?:"))
        if kind.startswith((b"password", b"passwd", b"passphrase", b"pwd")):
            secret = (
                _MIXED.fullmatch(value) is not None
                and _SPEAKS.fullmatch(value) is None
                and _NOT_A_VALUE.match(value) is None
            )
        else:
            secret = _OF_DIGITS.fullmatch(match[2]) is not None
        if secret:
            yield match.start(2), match.start(2) + size
