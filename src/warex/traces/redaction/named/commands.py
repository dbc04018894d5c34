"""Finds the secrets in command lines: values of options, passwords of usual programs, headers."""

import re
from collections.abc import Iterator

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.assigned import (
    BARE,
    NAMES,
    PLACEHOLDER,
    STRONG,
    Cut,
    is_ordinary,
    matched,
)
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import Secrecy, looks_secret, name_secrecy, opens

OPTION = rb"(?i)--?[\w-]*" + NAMES + rb"[\w-]*(?:[ \t]+|\\*[\"'],[ \t]*\\*[\"'])(?:\\*[\"'])?"
_NAME_OF_OPTION = lazy_re(rb"--?([\w-]+)")
_ARGUMENT = lazy_re(rb"[^\s\"'\\<>,;&)}\]|]{1,256}")
_QUOTED_ARGUMENT = lazy_re(rb"(?:[^\"'\\\r\n]|\\\\[^\"'nr]){1,256}")
_WORD = lazy_re(rb"[A-Za-z]+")
_KEYS = frozenset({b"key", b"auth", b"authentication"})
_PLACE = lazy_re(rb"[.~]?/|[A-Za-z]:\\|.*\.(?:pem|key|crt|txt|json|ya?ml|env|pub)\Z")


def options(text: bytes) -> Iterator[Cut]:
    """Find the values of options such as ``--token x`` and ``--key x``."""
    for match in compiled(OPTION).finditer(text):
        named = _NAME_OF_OPTION.match(text, match.start())
        if named is None:
            continue
        secrecy = name_secrecy(named[1].decode())
        quoted = text[match.end() - 1 : match.end()] in (b'"', b"'")
        value = matched(_QUOTED_ARGUMENT if quoted else _ARGUMENT, text, match.end())
        if PLACEHOLDER.match(value) or _PLACE.match(value) or value.startswith(b"-"):
            continue
        if secrecy is Secrecy.SECRET:
            # The text of a help names a value by a word: "--password string", "--token TOKEN".
            is_word = _WORD.fullmatch(value) and (value.isupper() or is_ordinary(value))
            hidden = len(value) >= 4 and not is_word and (len(value) >= 6 or not value.isalpha())
        else:
            decoded = value.decode("utf-8", "replace")
            strong = named[1].lower() in _KEYS and STRONG.fullmatch(value) is not None
            hidden = (
                strong or opens(decoded) or (secrecy is Secrecy.MAYBE and looks_secret(decoded))
            )
            hidden = hidden and secrecy is not Secrecy.NOTHING
        if hidden:
            yield Cut(match.end(), match.end() + len(value))


HEADER_LINE = (
    rb"(?i)(?:-H|--header|-header)[ \t=]*(?:\\*[\"'],[ \t]*)?\\*[\"']?[\w-]*"
    + NAMES
    + rb"[\w-]*:[ \t]*"
)
_NAME_OF_HEADER = lazy_re(
    rb"(?:-H|--?[Hh]eader)[ \t=]*(?:\\*[\"'],[ \t]*)?(\\*[\"'])?([\w-]+):[ \t]*"
)


def header_lines(text: bytes) -> Iterator[Cut]:
    """Find the values of secret headers that a command line sets."""
    for candidate in compiled(HEADER_LINE).finditer(text):
        match = _NAME_OF_HEADER.match(text, candidate.start())
        if match is None:
            continue
        value = matched(_QUOTED_ARGUMENT if match[1] else _ARGUMENT, text, match.end())
        secrecy = name_secrecy(match[2].decode())
        if secrecy in (Secrecy.SECRET, Secrecy.MAYBE) and not PLACEHOLDER.match(value):
            yield Cut(match.end(), match.end() + len(value))


_GAP = rb"(?:[ \t]+|\\*[\"'],[ \t]*\\*[\"'])"
"""Between the words of a command line, also as a list in JSON."""
_MARK = rb"(?:\\*[\"'])?"
_REST = rb"[^|;&\r\n]{0,200}?"
COMMANDS: tuple[bytes, ...] = (
    rb"\bsshpass" + _GAP + rb"-p(?:" + _GAP + rb")?" + _MARK,
    rb"\b(?:mysql\w*|mariadb[\w-]*|7za?|rar|unrar)\b" + _REST + _GAP + rb"-(?:hp|p)" + _MARK,
    rb"\b(?:docker|podman|helm|az|oc|mongo\w*|npm|heroku)\b" + _REST + _GAP + rb"-p" + _GAP + _MARK,
    rb"\b(?:redis-cli|keydb-cli|valkey-cli)\b" + _REST + _GAP + rb"-a" + _GAP + _MARK,
    rb"\bldap\w+\b" + _REST + _GAP + rb"-w" + _GAP + _MARK,
    rb"\b(?:unzip|zip|sqlcmd|bcp)\b" + _REST + _GAP + rb"-P" + _GAP + _MARK,
    rb"\bpass(?:in|out)?" + _GAP + rb"pass:",
    rb"\bhtpasswd\b" + _REST + _GAP + rb"-\w*b\w*" + _GAP + rb"\S+" + _GAP + rb"\S+" + _GAP + _MARK,
    rb"\b(?:curl|wget|http|https|xh|httpie|aria2c)\b"
    + _REST
    + _GAP
    + rb"(?:-u|--user|-U|--proxy-user|-a|--auth)(?:"
    + _GAP
    + rb"|=)"
    + _MARK
    + rb"[^\s:\"'\\]+:",
    rb"\bcurl\b" + _REST + _GAP + rb"-[uU][^\s:\"'\\]+:",
    rb"(?:^|[ \t\"'])(?:-u|--user)(?:" + _GAP + rb"|=)" + _MARK + rb"[^\s:\"'\\/]+:",
    rb"\b(?:lftp|smbclient|rpcclient|net)\b"
    + _REST
    + rb"-[uU]"
    + _GAP
    + _MARK
    + rb"[^\s,%\"']+[,%]",
    rb"\bnet" + _GAP + rb"use" + _GAP + rb"\S+" + _GAP + rb"\\\\\S+" + _GAP + _MARK,
    rb"\bnet" + _GAP + rb"user" + _GAP + rb"\S+" + _GAP + _MARK,
    rb"\bxfreerdp\b" + _REST + rb"/p:" + _MARK,
    rb"\bmachine(?:[ \t\r\n]|\\+[nrt])+\S+?(?:[ \t\r\n]|\\+[nrt])+"
    rb"(?:login(?:[ \t\r\n]|\\+[nrt])+\S+?(?:[ \t\r\n]|\\+[nrt])+)?password(?:[ \t\r\n]|\\+[nrt])+",
)
"""Where a secret follows in a command line, or in a ``.netrc``."""
_COMMAND = rb"(?i:" + rb"|".join(COMMANDS) + rb")"
COMMAND = (
    rb"\b(?:sshpass|mysql|mariadb|7za?|u?n?rar|docker|podman|helm|az|oc|mongo\w*|npm|heroku|\w+-cli"
    rb"|ldap\w+|unzip|zip|sqlcmd|bcp|htpasswd|curl|wget|https?|xh|aria2c|lftp|smbclient|rpcclient"
    rb"|net|xfreerdp)[ \t\"\\]|pass:|[ \t\"'](?:-u|--user)[ \t=\"\\]|\bmachine[ \t\r\n\\]"
)
"""Prefilter for ``_COMMAND``, whose counts would multiply the states of RE2's set."""
PIPED = (
    rb"\b(?:echo|printf)[ \t][^|\r\n]*\|[ \t]*"
    rb"(?:sudo[ ]|chpasswd|passwd|docker|su\b|kinit|gpg|cryptsetup|vncpasswd|openssl|ssh-add"
    rb"|\S+[ ][^|\r\n]*stdin)"
)
_PIPED = lazy_re(
    rb"(?:echo|printf)[ \t]+(?:-\w+[ \t]+)?\\*[\"']?(?:[\w.-]{1,40}:)?([^|\"'\\\s]{1,120})"
)
LOGIN = rb"(?i)\blogin[ \t]+\S+[ \t]+password[ \t]+"
SHORT_OPTION = rb"[ \t\"]-[pPwA]" + _GAP + rb"[\"']?[^\s\"'-][^\s\"']*"
_USER_OPTION = lazy_re(rb"[ \t\"'](?:-[uUl]|--user(?:name)?)(?:[ \t=]|\\*[\"'],)")
_WEAK = lazy_re(rb"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[^\s/:\\.]{6,64}")
_PORTS = lazy_re(rb"[0-9]{1,5}|[0-9.]*:?[0-9-]+:[0-9-]+(?:/\w+)?")
_NO_PASSWORD = lazy_re(rb"[0-9.:/a-z]*|.*[/\\:].*")


def in_commands(text: bytes) -> Iterator[Cut]:
    """Find the passwords in command lines of usual programs."""
    for match in compiled(_COMMAND).finditer(text):
        value = matched(_ARGUMENT, text, match.end())
        if not value or _PORTS.fullmatch(value):
            continue
        if not PLACEHOLDER.match(value) and not _PLACE.match(value):
            yield Cut(match.end(), match.end() + len(value))


def piped(text: bytes) -> Iterator[Cut]:
    """Find the passwords that ``echo`` gives to ``sudo -S``, ``chpasswd`` and others."""
    for candidate in compiled(PIPED).finditer(text):
        match = _PIPED.match(text, candidate.start())
        if match is not None and not PLACEHOLDER.match(match[1]):
            yield Cut(*match.span(1))


def logins(text: bytes) -> Iterator[Cut]:
    """Find ``login bob password x``; the value is not a plain word."""
    for match in compiled(LOGIN).finditer(text):
        value = matched(BARE, text, match.end())
        if value and not _WORD.fullmatch(value):
            yield Cut(match.end(), match.end() + len(value))


def short_options(text: bytes) -> Iterator[Cut]:
    """Find the value of ``-p`` of any program, if it looks like a password.

    Beside a user's name, ``-P`` and others are taken too, and what looks less like one.
    """
    for candidate in compiled(SHORT_OPTION).finditer(text):
        begin = candidate.end() - len(re.split(rb"[\s\"']", candidate.group())[-1])
        value = matched(_ARGUMENT, text, begin)
        if _WEAK.fullmatch(value) and _has_user(text, candidate.start()):
            yield Cut(begin, begin + len(value))
            continue
        if candidate.group().lstrip(b' \t"')[:2] != b"-p":
            continue
        kinds = sum(map(bool, (re.search(kind, value) for kind in _KINDS)))
        if kinds >= 3 and not _NO_PASSWORD.fullmatch(value) and not PLACEHOLDER.match(value):
            yield Cut(begin, begin + len(value))


def _has_user(text: bytes, place: int) -> bool:
    """Whether the command around a place names a user."""
    begin = max(text.rfind(sign, max(0, place - 200), place) for sign in (b"\n", b"|", b";"))
    end = text.find(b"\n", place, place + 200)
    return _USER_OPTION.search(text, max(begin, 0), end if end > 0 else place + 200) is not None


_KINDS = (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^A-Za-z0-9]")
