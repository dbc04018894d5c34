"""Redacts the secrets in any text.

One pass of RE2 finds which kinds of secrets may be in a text, mostly none; only these are searched
closely. It works on bytes, since RE2 counts in bytes and files may contain any.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from urllib.parse import quote_from_bytes, unquote_to_bytes

from warex.traces.redaction.environment_secrets import process_secrets
from warex.traces.redaction.gitleaks import PatternSet, compiled, context_rules, shape_rules
from warex.traces.redaction.heuristics import (
    PASSWORD_STATEMENT,
    RANDOM_VALUE,
    random_values,
    stated_passwords,
    user_spans,
)
from warex.traces.redaction.names import Secrecy, is_secret, name_secrecy
from warex.traces.redaction.token_patterns import (
    COUNTED,
    KEY_PREFILTER,
    PREFIXED,
    REDACTED,
    prefixed_token,
    redact_vendor_keys,
)
from warex.traces.redaction.url_paths import SEGMENT, tokens_in_paths

_REDACTED = REDACTED.encode()
_DECODINGS = 3
"""Levels of nested encodings that are decoded."""

_NAMES = (
    rb"(?:pass|pwd|pw\b|psk|secret|token|key|auth|cred|sess|cookie|jwt|bearer|sig|sas\b|otp|pin\b"
    rb"|cvv|cvc|ssn|code|csrf|xsrf|saml|sid\b|ticket|hmac|verifier|assertion|magic|crumb|mfa"
    rb"|pat\b|nonce|appid)"
)
"""Prefilter for names; ``name_secrecy`` decides."""

# ---- names and their values in a text

# RE2 finds names without groups, which are slow in RE2; these patterns then match exactly.
_ASSIGNED = rb"(?i)" + _NAMES + rb"[\w.$\[\]-]*(?:\\*[\"'])?\]?[ \t]*[:=]"
_PARAMETER = (
    rb"(?i)(?:[?&;#~]|\\u0026)[\w.:$%\[\]-]*(?:" + _NAMES[3:-1] + rb"|policy|sign)[\w.:$%\[\]-]*="
)
_OPTION = rb"(?i)--?[\w-]*" + _NAMES + rb"[\w-]*(?:[ \t]+|\\*[\"'],[ \t]*\\*[\"'])"
_LEFT = re.compile(rb"[\w.$\[-]*\Z")
_NAME_AND_MARK = re.compile(
    rb"([\w.$\[\]-]+)(\\*[\"'])?(\]?[ \t]{0,3}(?::=|=>|[:=])[ \t]{0,3})(\\*[\"'`])?"
)
_QUOTE = re.compile(rb"(\\*)([\"'\x60])")
_NAME_OF_PARAMETER = re.compile(rb"(?:[?&;#~]|\\u0026)([\w.:$%\[\]-]*)=")
_NAME_OF_OPTION = re.compile(rb"--?([\w-]+)")
_USER = rb"://[^/?#\s<>\"'\\]+@"
_TAG = rb"(?i)<(?:input|meta)\b[^<>]*\b(?:name|id|property|type)[\s=\\\"']+[^\s\"'<>\\]*" + _NAMES
_REST_OF_TAG = re.compile(rb"[^<>]{0,800}>")
_ENCODED = rb"(?i)%(?:25)*3d|%(?:25)*40|%(?:25)*22(?:%(?:25)*3a|:)"
_CURL_USER = rb"(?:-u|--user)(?:[ \t]+|=)\\*[\"']?[^\s:\"'\\]+:"
_LOGIN = rb"(?i)\blogin[ \t]+\S+[ \t]+password[ \t]+"
_LONG = rb"[A-Za-z0-9]{20,}"
_IN_QUERY = re.compile(rb"[^&;#\s<>\"'\\]*")
_BARE = re.compile(rb"[^\s\"'\\<>,;&)}\]]+")
_WHOLE_LINE = re.compile(rb"[^\r\n\"'\\<>]+")
_PLACEHOLDER = re.compile(rb"\[redacted|%5Bredacted|\$[{(A-Z_]|\{|<|\*|%[({s]|redacted@")
_CODE = re.compile(rb"[A-Za-z_]+(?:\.[A-Za-z_]+)*[(\[;]?|[A-Za-z_.]+\(.*")
_STRONG = re.compile(rb"(?=.*[0-9])(?=.*[^0-9]).{8,}", re.DOTALL)
_SAYS_HOW = re.compile(rb"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]+-[a-z-]+")
"""A date, or ``12-character``."""
_DIGEST = re.compile(rb"Digest (?:[\w-]+=(?:\\*\"[^\"\\]*\\*\"|[^\s,\"\\]+)(?:,[ ]?)?)+")
_HOLDS_ALL = frozenset({b"authorization", b"cookie", b"proxy-authorization", b"set-cookie"})
_GOES_ON = frozenset(bytes([sign]) for sign in b",:;)]} \t")
_LETTERS = re.compile(rb"[A-Z0-9_]+")

_TRUTHS = frozenset({b"0", b"1", b"false", b"no", b"none", b"null", b"off", b"on", b"true", b"yes"})
_SECRET_PARAMETERS = frozenset({b"auth", b"key"})
"""Names that are secret only in URLs."""

_ATTRIBUTE = re.compile(
    rb"([\w:-]+)[ \t\r\n]*=[ \t\r\n]*(?:\\*\"([^\"\\]*)|\\*'([^'\\]*)|([^\s\"'>\\]+))"
)
_ENCODED_RUN = re.compile(rb"(?:[\w.~+!*()@:/-]|%[0-9A-Fa-f]{2})+")
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_-]{20,}={0,2}")

type _Span = tuple[int, int]
type _Find = Callable[[bytes], Iterable[_Span]]
"""Finds secrets in a text."""
type _Replace = Callable[[bytes, bool, int], bytes]
"""Replaces secrets in a text; the arguments are those of ``redact_bytes``."""


def redact_bytes(text: bytes, *, line: bool = False, depth: int = 0) -> bytes:
    """Return the text with its secrets replaced; JSON stays valid JSON.

    ``line`` marks a line of a trace, whose own fields stay. ``depth`` counts decodings.
    """
    text = process_secrets().replaced(text, _REDACTED)
    shapes = shape_rules(anchored=True)
    prefilters, actions = _by_beginning()
    found = prefilters.found(text)
    if first := [place for place in found if place < len(shapes)]:
        lower = text.lower()
        text = _cut(text, (span for place in first for span in shapes[place].find(text, lower)))
    for place in sorted(found):
        if place >= len(shapes):
            text = actions[place - len(shapes)](text, line, depth)
    prefilters, actions = _by_length()
    for place in sorted(prefilters.found(text)):
        text = actions[place](text, line, depth)
    return text


@cache
def _by_beginning() -> tuple[PatternSet, tuple[_Replace, ...]]:
    """Return the patterns with a literal beginning, and the actions for those behind the rules."""
    own: tuple[tuple[bytes, _Replace], ...] = (
        (KEY_PREFILTER, _keys),
        # No brackets: URL parsers would expect an IPv6 address.
        (_USER, _cutting(user_spans, b"redacted")),
        (_PARAMETER, _cutting(_parameters)),
        (_ASSIGNED, _assigned),
        (_OPTION, _cutting(_options)),
        (_TAG, _cutting(_tags)),
        (_CURL_USER, _cutting(partial(_behind, _CURL_USER))),
        (_LOGIN, _cutting(partial(_behind, _LOGIN))),
        (PASSWORD_STATEMENT, _cutting(stated_passwords)),
        (_ENCODED, _encoded),
        (_rare_words(), _cutting(_rare)),
        (_by_context(), _cutting(_vendors)),
    )
    rules = [rule.pattern.encode() for rule in shape_rules(anchored=True)]
    return PatternSet((*rules, *(each for each, _ in own))), tuple(do for _, do in own)


@cache
def _by_length() -> tuple[PatternSet, tuple[_Replace, ...]]:
    """Return the patterns with counts, and their actions.

    They are a separate set, since RE2 would multiply their states with the other patterns'.
    """
    own: tuple[tuple[bytes, _Replace], ...] = (
        (SEGMENT, _cutting(tokens_in_paths)),
        (PREFIXED, _cutting(_prefixed)),
        (COUNTED, _keys),
        (RANDOM_VALUE, _cutting(random_values)),
        (_LONG, _base64),
    )
    return PatternSet(tuple(each for each, _ in own)), tuple(do for _, do in own)


def _rare_words() -> bytes:
    words = {word for rule in shape_rules(anchored=False) for word in rule.keywords}
    return rb"(?i)" + b"|".join(map(re.escape, sorted(words)))


def _by_context() -> bytes:
    words = b"|".join(re.escape(word) for word in sorted(context_rules()))
    return (
        rb"(?i)(?:"
        + words
        + rb")[ \t\w.-]{0,20}[\\\s\"']{0,3}(?:[=>:,]|\|\|)[\x60\"'\s=\\]{0,5}[0-9a-z]{10,}"
    )


def precompile() -> None:
    """Compile all patterns before a fork."""
    redact_bytes(b"https://site.example/")


def _cut(text: bytes, spans: Iterable[_Span], instead: bytes = _REDACTED) -> bytes:
    """Return the text with a placeholder in place of each span."""
    pieces: list[bytes] = []
    done = 0
    for begin, end in sorted(spans):
        if end <= done or begin == end:
            continue
        pieces += (text[done : max(begin, done)], b"" if begin < done else instead)
        done = end
    return b"".join((*pieces, text[done:])) if pieces else text


def _cutting(find: _Find, instead: bytes = _REDACTED) -> _Replace:
    """Return the action that cuts what is found."""
    return lambda text, line, depth: _cut(text, find(text), instead)


# ---- what has a shape


def _keys(text: bytes, line: bool, depth: int) -> bytes:
    return redact_vendor_keys(text)


def _prefixed(text: bytes) -> Iterator[_Span]:
    begins = (match.start() for match in compiled(PREFIXED).finditer(text))
    return filter(None, (prefixed_token(text, begin) for begin in begins))


def _rare(text: bytes) -> Iterator[_Span]:
    lower = text.lower()
    return (span for rule in shape_rules(anchored=False) for span in rule.find(text, lower))


def _vendors(text: bytes) -> Iterator[_Span]:
    lower = text.lower()
    heads = [match.group().lower() for match in compiled(_by_context()).finditer(text)]
    for word, rules in context_rules().items():
        if any(word in head for head in heads):
            for rule in rules:
                yield from rule.find(text, lower)


def _base64(text: bytes, line: bool, depth: int) -> bytes:
    """Redact base64 (RFC 4648) that contains a secret."""
    if depth >= _DECODINGS:
        return text
    spans: list[_Span] = []
    for match in _BASE64_RUN.finditer(text):
        run = match.group().rstrip(b"=")
        if len(run) % 4 == 1:
            run = run[:-1]
        altchars = b"-_" if b"-" in run or b"_" in run else None
        try:
            plain = base64.b64decode(run + b"=" * (-len(run) % 4), altchars)
            plain.decode()
        except (binascii.Error, ValueError):
            continue
        if redact_bytes(plain, depth=depth + 1) != plain:
            spans.append(match.span())
    return _cut(text, spans)


# ---- what has a name


def _is_secret(secrecy: Secrecy, value: bytes) -> bool:
    """Whether a value is secret that has a name of this secrecy."""
    if not value or _PLACEHOLDER.match(value) or value.lower() in _TRUTHS:
        return False
    return is_secret(secrecy, value.decode("utf-8", "replace"))


def _parameters(text: bytes) -> Iterator[_Span]:
    for match in compiled(_PARAMETER).finditer(text):
        named = _NAME_OF_PARAMETER.match(text, match.start())
        name = named[1] if named else b""
        secrecy = name_secrecy(name.decode("utf-8", "replace"))
        if name.lower() in _SECRET_PARAMETERS:
            secrecy = Secrecy.SECRET
        quote_mark = text[match.end() : match.end() + 1]
        begin = match.end() + (quote_mark in (b'"', b"'"))
        value = _value(_IN_QUERY, text, begin)
        if begin > match.end() and (
            value[:1] in _GOES_ON or not text.startswith(quote_mark, begin + len(value))
        ):
            continue  # The quote ends the text before it.
        if _is_secret(secrecy, value):
            yield begin, begin + len(value)


def _assigned(text: bytes, line: bool, depth: int) -> bytes:
    spans: list[_Span] = []
    for found in compiled(_ASSIGNED).finditer(text):
        left = _LEFT.search(text, max(0, found.start() - 60), found.start())
        match = _NAME_AND_MARK.match(text, left.start() if left else found.start())
        if match is None:
            continue
        name, closing, _, quote_mark = match.groups()
        if line and b'"' in (closing, quote_mark):
            continue  # A field of the event itself, or the end of one of its texts.
        secrecy = name_secrecy(name.decode("utf-8", "replace"))
        if secrecy is Secrecy.NOTHING:
            continue
        span = _assigned_value(text, match)
        if span is not None and _is_secret(secrecy, text[span[0] : span[1]]):
            spans.append(span)
    return _cut(text, spans)


def _assigned_value(text: bytes, match: re.Match[bytes]) -> _Span | None:
    """Return the span of a name's value, or None."""
    name, closing, separator, quote_mark = match.groups()
    begin = match.end()
    if name.lower() in _HOLDS_ALL:
        digest = _DIGEST.match(text, begin)
        if digest is not None:
            return digest.span()
        value = _value(_WHOLE_LINE, text, begin)
        return (begin, begin + len(value)) if len(value.strip()) >= 8 else None
    if quote_mark:
        end = _closing(text, begin, quote_mark)
        within = text[begin:end]
        # A quote that is not closed soon, or closes the text before it, begins no value.
        if not within or b"\n" in within or (not closing and within[:1] in _GOES_ON):
            return None
        return begin, end
    value = _value(_BARE, text, begin)
    if not value:
        return None
    span = begin, begin + len(value)
    if closing:
        return span if value[:1].isdigit() and _STRONG.fullmatch(value) else None
    if b":" in separator and b"=" not in separator:
        return span if _STRONG.fullmatch(value) and not _SAYS_HOW.fullmatch(value) else None
    before = text[match.start() - 1 : match.start()]
    form = text[span[1] : span[1] + 1] == b"&" or before in (b"&", b"?", b";")
    shell = _LETTERS.fullmatch(name) is not None
    return span if form or shell or _CODE.fullmatch(value) is None else None


def _closing(text: bytes, begin: int, quote_mark: bytes) -> int:
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


def _options(text: bytes) -> Iterator[_Span]:
    for match in compiled(_OPTION).finditer(text):
        named = _NAME_OF_OPTION.match(text, match.start())
        secrecy = name_secrecy(named[1].decode()) if named else Secrecy.NOTHING
        value = _value(_BARE, text, match.end())
        if secrecy is Secrecy.SECRET and not _PLACEHOLDER.match(value) and _STRONG.fullmatch(value):
            yield match.end(), match.end() + len(value)


def _behind(pattern: bytes, text: bytes) -> Iterator[_Span]:
    ends = (match.end() for match in compiled(pattern).finditer(text))
    return ((end, end + len(_value(_BARE, text, end))) for end in ends)


def _tags(text: bytes) -> Iterator[_Span]:
    """Find the values of hidden and password fields, and of tokens in ``meta`` elements."""
    for tag in compiled(_TAG).finditer(text):
        is_secret, values = False, []
        rest = _REST_OF_TAG.match(text, tag.end())
        if rest is None:
            continue
        for match in _ATTRIBUTE.finditer(text, tag.start(), rest.end()):
            name = match[1].lower()
            value = match[match.lastindex or 4]
            if name in (b"value", b"content"):
                values.append(match.span(match.lastindex or 4))
            elif name == b"type":
                is_secret |= value.lower() == b"password"
            elif name in (b"name", b"id", b"property"):
                is_secret |= name_secrecy(value.decode("utf-8", "replace")) is Secrecy.SECRET
        if is_secret:
            yield from (span for span in values if span[1] - span[0] >= 4)


def _encoded(text: bytes, line: bool, depth: int) -> bytes:
    """Redact percent-encoded texts, such as a URL in the query of another."""
    if depth >= _DECODINGS:
        return text
    pieces: list[bytes] = []
    done = 0
    for match in _ENCODED_RUN.finditer(text):
        run = match.group()
        if b"%" not in run:
            continue
        plain = unquote_to_bytes(run)
        cleaned = redact_bytes(plain, depth=depth + 1)
        if cleaned != plain:
            safe = "/:@" if b"/" in run else ""
            pieces += (text[done : match.start()], quote_from_bytes(cleaned, safe).encode())
            done = match.end()
    return b"".join((*pieces, text[done:])) if pieces else text


def _value(pattern: re.Pattern[bytes], text: bytes, begin: int) -> bytes:
    match = pattern.match(text, begin)
    return match.group() if match else b""
