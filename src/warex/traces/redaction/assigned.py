"""Finds the values that a name makes secret: assignments, parameters, options, elements, commands.

Each kind of place has a pattern for RE2, which finds where one may be, and a function that reads
what is there. RE2 has no groups here, which are slow in it; Python's patterns match once, from
where RE2 matched, and are bounded.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction import password_words
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import Secrecy, is_secret, name_secrecy


class Cut(NamedTuple):
    """The span of a secret in a text."""

    begin: int
    end: int
    hashed: bool = False
    """Whether equal values must stay equal, and different ones different."""
    in_brackets: bool = False
    """Whether it is between brackets, which the placeholder has, too."""


NAMES = (
    rb"(?:pass|pwd|pw\b|psk|secret|token|key|auth|cred|sess|cookie|jwt|bearer|sig|sas\b|otp|pin\b"
    rb"|cvv|cvc|ssn|code|csrf|xsrf|saml|sid\b|ticket|hmac|verif|assertion|magic|crumb|mfa"
    rb"|pat\b|salt\b|seed_?phrase|mnemonic|nonce|appid|confirm|invit|unsub|state\b|reset|activat|recover|opt_?out|eventvalid"
    rb"|" + password_words.prefilter() + rb")"
)
"""Prefilter for names; ``name_secrecy`` decides."""
_SIGN = rb"(?:[\w\x80-\xff.$%\[\]-]|\\+u[0-9a-fA-F]{4})"
"""A character of a name, as it is or escaped."""
NEW_LINE = rb"(?:\r?\n|(?:\\+r)?\\+n)"
"""The end of a line, also as an escape in JSON."""

PLACEHOLDER = lazy_re(
    rb"\[redacted|%5Bredacted|\$[{(A-Z_]|\{|<|\*|%[({s]|redacted@|\xe2\x80\xa2|&lt;|\(|\.\.\."
)
"""What stands in place of a value."""
_ORDINARY = frozenset(
    b"""0 1 false no none null off on true yes
    admin administrator any auto bearer basic boolean changeme change_me code confirm content
    default disabled empty enabled enter example false field file forgot function hidden incorrect
    include input integer invalid label length missing name number omit optional parameter
    passcode passphrase passwd password passwort path placeholder prompt pwd required same-origin
    secret show string stdin submit test text token type undefined unknown user username value
    visible weak strong wrong your""".split()
)
"""Values that open nothing: words of schemas, of messages and of tests."""


def is_ordinary(value: bytes) -> bool:
    """Whether a value is a word that stands for a value, or the value of a test."""
    return value.lower() in _ORDINARY


_LETTERS_ONLY = lazy_re(rb"[A-Za-z][a-z]{7,31}")
_A_PASSWORD = lazy_re(rb"(?i)pass(?:w|phrase|code|\Z)|pwd|pw\Z|kennwort")


def is_of_letters(name: bytes, value: bytes) -> bool:
    """Whether the value of a password's name is one although it has only letters."""
    return (
        _LETTERS_ONLY.fullmatch(value) is not None
        and _A_PASSWORD.search(name) is not None
        and not is_ordinary(value)
        and name_secrecy(value.decode()) is Secrecy.NOTHING
    )


BARE = lazy_re(rb"[^\s\"'\\<>,;&)}\]]+")
_WHOLE_LINE = lazy_re(rb"[^\r\n\"'\\<>]+")
_CODE = lazy_re(rb"[A-Za-z_]+(?:\.[A-Za-z_]+)*[(\[;]?|[A-Za-z_.]+\(.*")
STRONG = lazy_re(rb"(?=.*[0-9])(?=.*[^0-9]).{8,}", re.DOTALL)
_SAYS_HOW = lazy_re(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]+-[a-z-]+")
"""A date, or ``12-character``."""


def secret_of(name: bytes, value: bytes) -> Secrecy:
    """Return how secret a value is under this name: NOTHING, OPENS or SECRET."""
    if not value or PLACEHOLDER.match(value) or value.lower() in _TRUTHS:
        return Secrecy.NOTHING
    secrecy = name_secrecy(name.decode("utf-8", "replace"))
    if value.count(b" ") > 2 and name.lower().endswith(_CODES):
        return Secrecy.NOTHING
    if not is_secret(secrecy, value.decode("utf-8", "replace")):
        return Secrecy.NOTHING
    return Secrecy.OPENS if secrecy is Secrecy.OPENS else Secrecy.SECRET


_CODES = (b"pin", b"otp", b"cvv", b"cvc", b"ssn")
"""Ends of names of a few digits; ``pin`` is also an icon, and a sentence is not one of them."""
_TRUTHS = frozenset({b"0", b"1", b"false", b"no", b"none", b"null", b"off", b"on", b"true", b"yes"})


def _cut(name: bytes, text: bytes, begin: int, end: int) -> Iterator[Cut]:
    secrecy = secret_of(name, text[begin:end])
    if secrecy is not Secrecy.NOTHING:
        yield Cut(begin, end, hashed=secrecy is Secrecy.OPENS)


def matched(pattern: re.Pattern[bytes], text: bytes, begin: int) -> bytes:
    """Return what a pattern matches at a place; empty if nothing."""
    match = pattern.match(text, begin)
    return match.group() if match else b""


# ---- parameters of queries and forms

NAMES_OF_PARAMETERS = NAMES.removesuffix(b")") + rb"|policy|sign|state)"
PARAMETER = (
    rb"(?i)(?:[?&;#~]|\\u0026)[\w\x80-\xff.:$%\[\]-]*"
    + NAMES_OF_PARAMETERS
    + rb"[\w\x80-\xff.:$%\[\]-]*="
)
_NAME_OF_PARAMETER = lazy_re(rb"(?:[?&;#~]|\\u0026)([\w\x80-\xff.:$%\[\]-]*)=")
_IN_QUERY = lazy_re(rb"[^&;#\s<>\"'\\]*")
_SECRET_PARAMETERS = frozenset({b"auth", b"key"})
"""Names that are secret only in URLs."""
GOES_ON = frozenset(bytes([sign]) for sign in b",:;)]} \t")


def parameters(text: bytes) -> Iterator[Cut]:
    """Find the values of parameters."""
    for match in compiled(PARAMETER).finditer(text):
        named = _NAME_OF_PARAMETER.match(text, match.start())
        name = named[1] if named else b""
        quote_mark = text[match.end() : match.end() + 1]
        begin = match.end() + (quote_mark in (b'"', b"'"))
        value = matched(_IN_QUERY, text, begin)
        if begin > match.end() and (
            value[:1] in GOES_ON or not text.startswith(quote_mark, begin + len(value))
        ):
            continue  # The quote ends the text before it.
        if name.lower() in _SECRET_PARAMETERS:
            name = b"secret"
        yield from _cut(name, text, begin, begin + len(value))


# ---- assignments

ASSIGNED = rb"(?i)" + NAMES + _SIGN + rb"*(?:\\*[\"'])?\]?[ \t]*[:=]"
_LEFT = lazy_re(rb"(?:[\w\x80-\xff.$%\[-]|\\u[0-9a-fA-F]{4})*\Z")
_NAME_AND_MARK = lazy_re(
    rb"((?:[\w\x80-\xff.$%\[\]-]|\\+u[0-9a-fA-F]{4})+)(\\*[\"'])?"
    rb"(\]?[ \t]{0,3}(?::=|=>|[:=])[ \t]{0,3})(\\*[\"'`])?"
)
_SPACED_NAME_AND_MARK = lazy_re(
    rb"((?:[\w\x80-\xff.$%\[\] -]){1,60})(\\*[\"'])?"
    rb"(\]?[ \t]{0,3}(?::=|=>|[:=])[ \t]{0,3})(\\*[\"'`])?"
)
_QUOTE = lazy_re(rb"(\\*)([\"'\x60])")
_DIGEST = lazy_re(rb"Digest (?:[\w-]+=(?:\\*\"[^\"\\]*\\*\"|[^\s,\"\\]+)(?:,[ ]?)?)+")
_HOLDS_ALL = frozenset({b"authorization", b"cookie", b"proxy-authorization", b"set-cookie"})
_LETTERS = lazy_re(rb"[A-Z0-9_]+")
_LINE_BEFORE = lazy_re(rb"(?:\A|\n|\\n|[\"'`])[ \t]*(?:[-*>] ?)?(?:export[ ])?[\"']?\Z")
_LINE_END = lazy_re(rb"[ \t]*(?:\r|\n|\\+[nr]|[\"'`]|\Z)")
_TO_LINE_END = lazy_re(rb"[^\s\"'\\<>]{4,128}")
_FORM_BEFORE = lazy_re(rb"(?:[\"'`]|(?:-[dF]|--data(?:-\w+)?|--form(?:-\w+)?)[ =])\Z")


def assignments(text: bytes, *, line: bool) -> Iterator[Cut]:
    """Find the values of ``password=…``, ``password: …`` and ``"password": "…"``.

    ``line`` marks a line of a trace, whose own fields stay.
    """
    for candidate in compiled(ASSIGNED).finditer(text):
        left = _LEFT.search(text, max(0, candidate.start() - 60), candidate.start())
        spaced = b" " in candidate.group().rstrip(b" \t:=")
        pattern = _SPACED_NAME_AND_MARK if spaced else _NAME_AND_MARK
        match = pattern.match(text, left.start() if left else candidate.start())
        if match is None:
            continue
        name, closing, _, quote_mark = match.groups()
        if line and b'"' in (closing, quote_mark):
            continue  # A field of the event itself, or the end of one of its texts.
        if name_secrecy(name.decode("utf-8", "replace")) is Secrecy.NOTHING:
            continue
        span = _assigned_value(text, match)
        if span is not None:
            yield from _cut(name, text, *span)


def _assigned_value(text: bytes, match: re.Match[bytes]) -> tuple[int, int] | None:
    """Return the span of a name's value, or None."""
    name, closing, separator, quote_mark = match.groups()
    begin = match.end()
    if name.lower() in _HOLDS_ALL:
        digest = _DIGEST.match(text, begin)
        if digest is not None:
            return digest.span()
        value = matched(_WHOLE_LINE, text, begin)
        return (begin, begin + len(value)) if len(value.strip()) >= 8 else None
    if quote_mark:
        end = closing_quote(text, begin, quote_mark)
        within = text[begin:end]
        # A quote that is not closed soon, or closes the text before it, begins no value.
        if not within or b"\n" in within or (not closing and within[:1] in GOES_ON):
            return None
        return begin, end
    if closing and (wrapped := _WRAPPED.match(text, begin)):
        return wrapped.span(1)
    value = matched(BARE, text, begin)
    if not value:
        return None
    span = begin, begin + len(value)
    if closing:
        return span if value[:1].isdigit() and STRONG.fullmatch(value) else None
    certain = separator in (b"=", b":") or (name[-1:] == b"]" and b"=>" in separator)
    of_letters = is_of_letters(name, value) and certain
    of_letters = of_letters and text[span[1] : span[1] + 1] not in (b"(", b".", b"[")
    if b":" in separator and b"=" not in separator:
        if of_letters:
            return span
        if STRONG.fullmatch(value) and not _SAYS_HOW.fullmatch(value):
            return span
        return _rest_of_line(text, match)
    before = text[match.start() - 1 : match.start()]
    form = text[span[1] : span[1] + 1] == b"&" or before in (b"&", b"?", b";")
    quoted = _FORM_BEFORE.search(text, max(0, match.start() - 20), match.start())
    form = form or (quoted is not None and separator == b"=" and b"(" not in value)
    shell = _LETTERS.fullmatch(name) is not None
    return span if form or shell or of_letters or _CODE.fullmatch(value) is None else None


_WRAPPED = lazy_re(
    rb"\{\s{0,20}(?:\"\w{1,40}\":\s{0,3}(?:true|false|null|[0-9]+|\"[^\"\\]{0,80}\"),\s{0,20}){0,4}"
    rb"\"value\":\s{0,3}\"([^\"\\]{1,256})\""
)
"""An object that holds a value beside what it says of it."""


def _rest_of_line(text: bytes, match: re.Match[bytes]) -> tuple[int, int] | None:
    """Return the span of a value that, with its name, is a whole line: no sentence."""
    value = matched(_TO_LINE_END, text, match.end())
    if (
        _SAYS_HOW.fullmatch(value)
        or not value
        or is_ordinary(value)
        or value[:1] in b"([{|>-/#!&"
        or value[-1:] in b":?.!,"
    ):
        return None
    end = match.end() + len(value)
    before = _LINE_BEFORE.search(text, max(0, match.start() - 40), match.start())
    return (match.end(), end) if before and _LINE_END.match(text, end) else None


def closing_quote(text: bytes, begin: int, quote_mark: bytes) -> int:
    """Return where a quote is closed; ``begin`` if not within 4,096 bytes of the same string.

    Strings nested in JSON have their quotes behind 1, 3, 7… backslashes, which show whether a quote
    belongs to the same string, an inner one, or an outer one that ends there.
    """
    level = len(quote_mark) - 1
    for quote in _QUOTE.finditer(text, begin, begin + 4096):
        depth = len(quote[1]) % (2 * level + 2)
        if quote[2] == quote_mark[-1:] and depth == level:
            return quote.end() - len(quote_mark)
        if quote[2] == b'"' and depth != 2 * level + 1:
            break
    return begin


# ---- values on another line

NEXT_LINE = rb"(?i)" + NAMES + rb"[\w.-]*[\"']?:[ \t]*(?:[|>][+-]?)?[ \t]*" + NEW_LINE
_NEXT_LINE = lazy_re(
    rb"([\w\x80-\xff.$-]{1,80})[\"']?:[ \t]*([|>]?)[+-]?[ \t]*" + NEW_LINE + rb"([ \t]*)"
)
_LINE = lazy_re(rb"[^\r\n\"\\]{4,256}")
PART = rb"(?i)form-data;[ ]?name=\\*[\"']?[^\"'\r\n]*" + NAMES + rb"[^\"'\r\n]*[\"']?"
_PART = lazy_re(
    rb"(?i)"
    rb"form-data;[ ]?name=\\*[\"']?([^\"'\\\r\n;]{1,120})\\*[\"']?[^\r\n\\]{0,200}"
    + NEW_LINE
    + rb"(?:[\w-]{1,40}:[^\r\n\\]{0,200}"
    + NEW_LINE
    + rb"){0,4}"
    + NEW_LINE
    + rb"((?:(?!"
    + NEW_LINE
    + rb"--)(?:[^\"\\]|\\[^\"])){1,1024})"
)
NAMED = rb"(?i)\b(?:name|key):[ \t]*[\"']?[\w.-]*" + NAMES + rb"[\w.-]*[\"']?[ \t]*" + NEW_LINE
_NAMED = lazy_re(
    rb"(?:name|key|NAME|Name|Key):[ \t]*[\"']?([\w\x80-\xff.-]{1,80})[\"']?[ \t]*"
    + NEW_LINE
    + rb"[ \t]*[Vv]alue:[ \t]*(\\*[\"'])?([^\s\"'\\]{1,256})"
)


def next_lines(text: bytes) -> Iterator[Cut]:
    """Find YAML's values on the line below their name."""
    for candidate in compiled(NEXT_LINE).finditer(text):
        left = _LEFT.search(text, max(0, candidate.start() - 60), candidate.start())
        match = _NEXT_LINE.match(text, left.start() if left else candidate.start())
        if match is None:
            continue
        name, block, indent = match.groups()
        value = matched(_LINE, text, match.end()).rstrip()
        is_one = b" " not in value and not is_ordinary(value) and value[-1:] not in b":?"
        if value[:1] in b"-#/[{<" or not (
            (block and indent)
            or (indent and is_one and len(value) >= 6)
            or (is_one and STRONG.fullmatch(value))
        ):
            continue
        yield from _cut(name, text, match.end(), match.end() + len(value))


def form_parts(text: bytes) -> Iterator[Cut]:
    """Find the values of a form's parts (RFC 7578)."""
    for candidate in compiled(PART).finditer(text):
        match = _PART.match(text, candidate.start())
        if match is not None:
            yield from _cut(match[1], text, *match.span(2))


def named_values(text: bytes) -> Iterator[Cut]:
    """Find the value on the line below ``name: PASSWORD``, as Kubernetes writes variables."""
    for candidate in compiled(NAMED).finditer(text):
        match = _NAMED.match(text, candidate.start())
        if match is not None:
            yield from _cut(match[1], text, *match.span(3))


# ---- elements

TAG = rb"(?i)<[a-z][\w:-]*\b[^<>]*\b(?:name|id|property|type|key)[\s=\\\"']+[^\s\"'<>\\]*" + NAMES
_REST_OF_TAG = lazy_re(rb"[^<>]{0,800}>")
_ATTRIBUTE = lazy_re(
    rb"([\w:-]+)[ \t\r\n]*=[ \t\r\n]*(?:\\*\"([^\"\\]*)|\\*'([^'\\]*)|([^\s\"'>\\]+))"
)
_CONTENT = lazy_re(
    rb"(?:\s{0,20}<value>)?(?:<!\[CDATA\[)?((?:[^<>\"\\]|\\[^<>]){1,1024}?)"
    rb"(?:\]\]>)?</[\w:.-]{1,80}[ ]?>"
)
ELEMENT = rb"(?i)<(?:[\w.-]*:)?[\w\x80-\xff.-]*" + NAMES + rb"[\w\x80-\xff.-]*(?:[ \t\r\n][^<>]*)?>"
_ELEMENT = lazy_re(rb"<(?:[\w.-]{1,40}:)?([\w\x80-\xff.-]{1,80})[^<>]{0,201}>")
PAIR = rb"(?i)<key>[^<>]*" + NAMES + rb"[^<>]*</key>"
_PAIR = lazy_re(
    rb"<key>([^<>]{1,120})</key>(?:\s|\\+[nrt]){0,20}<string>((?:[^<>\"\\]|\\[^<>]){1,1024})<"
)
_HOLDING = frozenset({b"entry", b"property", b"param", b"parameter", b"string", b"setting"}) | {
    b"textarea",
    b"field",
    b"value",
    b"item",
    b"variable",
    b"add",
    b"env",
    b"data",
}
"""Elements whose content is the value of their name."""


def tags(text: bytes) -> Iterator[Cut]:
    """Find the values of hidden and password fields, tokens in ``meta``, ``<entry key=…>``."""
    for tag in compiled(TAG).finditer(text):
        rest = _REST_OF_TAG.match(text, tag.end())
        if rest is None:
            continue
        is_named, values = False, list[tuple[int, int]]()
        for match in _ATTRIBUTE.finditer(text, tag.start(), rest.end()):
            name = match[1].lower()
            span = match.span(match.lastindex or 4)
            value = text[slice(*span)]
            if name in (b"value", b"content"):
                values.append(span)
            elif name == b"type":
                is_named |= value.lower() == b"password"
            elif name in (b"name", b"id", b"property", b"key"):
                is_named |= name_secrecy(value.decode("utf-8", "replace")) is Secrecy.SECRET
        if not is_named:
            continue
        element = re.match(rb"<([\w:-]*)", text[tag.start() : tag.start() + 40])
        if element and element[1].lower() in _HOLDING and not values:
            content = _CONTENT.match(text, rest.end())
            is_value = content is not None and not PLACEHOLDER.match(content[1])
            values += [content.span(1)] if content and is_value else []
        yield from (Cut(*span) for span in values if span[1] - span[0] >= 4)


def elements(text: bytes) -> Iterator[Cut]:
    """Find the contents of ``<password>…</password>``."""
    for candidate in compiled(ELEMENT).finditer(text):
        match = _ELEMENT.match(text, candidate.start())
        if match and match[1].lower() == b"code":
            continue  # HTML's element, not a name.
        content = _CONTENT.match(text, match.end()) if match else None
        if match and content and content[1].strip():
            yield from _cut(match[1], text, *content.span(1))


def pairs(text: bytes) -> Iterator[Cut]:
    """Find the values of Apple's property lists."""
    for candidate in compiled(PAIR).finditer(text):
        match = _PAIR.match(text, candidate.start())
        if match is not None:
            yield from _cut(match[1], text, *match.span(2))
