"""Finds the values that stand beside the name of a secret without a sign of an assignment.

The name and the value are two arguments, cells, lines or elements; or a comment, a statement of
SQL or a sentence names what a quoted text is.
"""

import re
from collections.abc import Iterator

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction import password_words
from warex.traces.redaction.assigned import NAMES, NEW_LINE, PLACEHOLDER, Cut, is_ordinary
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import Secrecy, is_secret, looks_random, name_secrecy
from warex.traces.redaction.typed.fields import is_secret_field, typed_keys

_KINDS = tuple(map(re.compile, (rb"[a-z]", rb"[A-Z]", rb"[0-9]", rb"[^A-Za-z0-9]")))
_SELECTOR = (b"#", b".", b"[", b"/", b"(")
_OF_JSON = frozenset(bytes([sign]) for sign in b":,]}{")
"""What a text between the quotes of two strings of JSON begins with."""
_MARK = rb"\\*[\"'`]"


def _kinds(value: bytes) -> int:
    return sum(kind.search(value) is not None for kind in _KINDS)


def _is_value(value: bytes, kinds: int = 2) -> bool:
    """Whether a text beside a name may be its value: one word with several kinds of signs."""
    return (
        6 <= len(value) <= 256
        and not value.startswith(_SELECTOR)
        and value[:1] not in _OF_JSON
        and _kinds(value) >= kinds
        and re.search(rb"[0-9]", value) is not None
        and re.search(rb"\s|://", value) is None
        and not is_ordinary(value)
        and not PLACEHOLDER.match(value)
        and not is_secret_field(_as_text(value))
    )


def _as_text(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _names_secret(name: bytes, value: bytes) -> bool:
    words = _as_text(name).strip(" \t:*_#")
    secrecy = name_secrecy(words)
    named = secrecy is Secrecy.SECRET or is_secret_field(words)
    return named or (secrecy is Secrecy.MAYBE and is_secret(secrecy, _as_text(value)))


# ---- arguments

ARGUMENTS = (
    rb"(?i)[(\[,{][ \t]*" + _MARK + rb"[^\"'`\n]*" + NAMES + rb"[^\"'`\n]*" + _MARK + rb"[ \t]*,"
)
_ARGUMENTS = lazy_re(
    rb"(\w*)[(\[,{][ \t]*(\\*[\"'`])((?:(?!\2)[^\\\n]){2,80})\2[ \t]*,[ \t]*(?:[bf])?"
    rb"(\\*[\"'`])((?:(?!\4)[^\\\n]){4,256})\4[ \t]*(?=[)\]},])"
)
_PUTS = lazy_re(
    rb"(?i)(?:append|set\w*|put\w*|add\w*|header|headers|of|entry|param\w*|field|with\w*|store)\Z"
)
_LOGS_IN = (
    rb"(?i)(?:basic_?auth\w*|(?:\b|_)log_?in\w*|sign_?in\w*|authenticate|set_?credentials"
    rb"|\b(?:auth|credentials?)[ ]?=[ ]?)\("
)
_CREDENTIALS = lazy_re(
    rb"\w*(?:[ ]?=[ ]?)?\(\s*(?:\w+\s*=\s*)?(\\*[\"'`])((?:(?!\1)[^\\\n]){1,80})\1"
    rb"[ \t]*,[ \t]*(?:\w+\s*=\s*)?"
    rb"(\\*[\"'`])((?:(?!\3)[^\\\n]){4,128})\3[ \t]*\)"
)


def arguments(text: bytes) -> Iterator[Cut]:
    """Find the value behind its name in a call or a list: ``append('password', 'x')``."""
    for candidate in compiled(ARGUMENTS).finditer(text):
        begin = candidate.start()
        while begin and candidate.start() - begin < 24 and text[begin - 1 : begin].isalnum():
            begin -= 1
        match = _ARGUMENTS.match(text, begin)
        if match is None or not _names_secret(match[3], match[5]):
            continue
        puts = _PUTS.search(match[1]) is not None and b" " not in match[5]
        if _is_value(match[5]) or (puts and not is_ordinary(match[5]) and len(match[5]) >= 6):
            yield Cut(*match.span(5))


def credentials(text: bytes) -> Iterator[Cut]:
    """Find the password in ``BasicAuth('bob', 'x')`` and ``login('bob', 'x')``."""
    for candidate in compiled(_LOGS_IN).finditer(text):
        match = _CREDENTIALS.match(text, candidate.start())
        if match is not None and not match[2].startswith(_SELECTOR) and b" " not in match[4]:
            yield Cut(*match.span(4))


LOGS_IN = _LOGS_IN

NAMED_PAIR = rb"(?i)\"name\\*\":[ ]?\\*\"[^\"\\]*" + NAMES
_NAMED_PAIR = lazy_re(
    rb"\"name(\\*)\":[ ]?\\*\"([^\"\\]{2,80})\\*\",[ ]?\\*\"value\\*\":[ ]?\\*\"([^\"\\]{4,2048})"
)


def named_pairs(text: bytes) -> Iterator[Cut]:
    """Find the value in ``{"name": "sessionid", "value": "x"}``, as HAR files have it."""
    for candidate in compiled(NAMED_PAIR).finditer(text):
        match = _NAMED_PAIR.match(text, candidate.start())
        if match and _names_secret(match[2], match[3]) and not is_ordinary(match[3]):
            yield Cut(*match.span(3))


# ---- cells and lines

CELL = rb"(?i)" + NAMES + rb"[^<>\n|]*(?:</[a-z][a-z0-9]*>[ \t\r\n]*[:=]?[ \t\r\n]*<|[ ]?\|)"
_CELL = lazy_re(
    rb"(?:[>|]|\A|\n)[ \t]*([^<>|\n]{2,60}?)[ \t]*"
    rb"(?:</\w+>(?:\s|\\+[nrt]|[:=])*(?:<[^<>]{1,200}>\s*){1,3}|\|[ \t]*)"
    rb"(&?[^<>|\s\"'\\]{6,600})[ \t]*(?:<|\||\n|\Z)"
)
LABEL_LINE = (
    rb"(?i)(?:pass(?:word|phrase|code)|secret(?:[ _]\w+)*|(?:api|access|license|private)[ _]?"
    rb"(?:key|token)|recovery[ ]code)[ \t]*:?[ \t]*" + NEW_LINE
)
_LABEL_LINE = lazy_re(
    rb"([\w \t-]{2,48}?)[ \t]*:?[ \t]*"
    + NEW_LINE
    + rb"(?:[ \t]|\\+t)*([^\s\"'\\<>]{8,256})[ \t]*(?=\r|\n|\\+[nr]|[\"']|\Z)"
)
_IN_LINE = lazy_re(rb"(?i)(?<![\w-])pass(?:word|wd|code)[ \t]+([^\s\"'`<>\\,;|(){}\[\]]{8,64})")


def cells(text: bytes) -> Iterator[Cut]:
    """Find the value in the cell or the element behind its name."""
    for candidate in compiled(CELL).finditer(text):
        begin = max(
            text.rfind(sign, max(0, candidate.start() - 60), candidate.start()) for sign in _LEFTS
        )
        match = _CELL.match(text, max(begin, 0))
        if match and _names_secret(match[1], match[2]) and _is_value(match[2]):
            yield Cut(*match.span(2))


_LEFTS = (b">", b"|", b"\n")


def lines(text: bytes) -> Iterator[Cut]:
    """Find the value on the line below its name."""
    for candidate in compiled(LABEL_LINE).finditer(text):
        begin = (
            max(text.rfind(b"\n", 0, candidate.start()), text.rfind(b'"', 0, candidate.start())) + 1
        )
        match = _LABEL_LINE.match(text, max(begin, candidate.start() - 48))
        if match and _names_secret(match[1], match[2]) and _is_value(match[2], 3):
            yield Cut(*match.span(2))


IN_LINE = rb"(?i)\bpass(?:word|wd|code)[ \t]+\S*[0-9]"


def in_line(text: bytes) -> Iterator[Cut]:
    """Find ``Password x`` in a line of a page, where the value cannot be a word."""
    for candidate in compiled(IN_LINE).finditer(text):
        match = _IN_LINE.match(text, candidate.start())
        if match and _is_value(match[1].rstrip(b".:!?"), 4):
            yield Cut(match.start(1), match.start(1) + len(match[1].rstrip(b".:!?")))


# ---- sibling elements

SIBLINGS = rb"(?i)<(?:parameter|arg|argument|param|target|element|selector|field|label|locator)\b"
_SIBLING = lazy_re(
    rb"<(?:(?:parameter|arg|argument|param)(?:=|[ ]+name=)[\"'\\]*([\w-]{1,40})[\"'\\]*"
    rb"|([\w-]{1,40}))>"
    rb"((?:[^<>\n]|\\[^<>]){1,512})</[\w-]{1,40}>(?:\s|\\+[nrt])*"
)


def siblings(text: bytes) -> Iterator[Cut]:
    """Find what is typed in calls of tools that are written as elements."""
    done = 0
    for candidate in compiled(SIBLINGS).finditer(text):
        if candidate.start() < done:
            continue
        fields: dict[str, str] = {}
        spans: dict[str, tuple[int, int]] = {}
        match = _SIBLING.match(text, candidate.start())
        while match is not None and len(fields) < 12:
            name = _as_text(match[1] or match[2])
            fields[name], spans[name] = _as_text(match[3]), match.span(3)
            done = match.end()
            match = _SIBLING.match(text, done)
        yield from (Cut(*spans[name]) for name in typed_keys(fields))


# ---- comments, SQL, protocols

COMMENT = (
    rb"(?i)[\"'`][)\]]*;?[ \t]*(?:#|//|--)[^\n]*"
    rb"(?:pass(?:word|code|phrase)|pwd|\bpin\b|secret|token)"
)
_COMMENT = lazy_re(
    rb"([\"'`])([^\"'`\s\\]{4,256})\1[)\]]*;?[ \t]*(?:#|//|--)[ \t]*([^\n\"'`]{2,40})"
)
STATEMENT = (
    rb"(?i)\b(?:password|identified[ ](?:with[ ]\S+[ ])?by|passphrase)[ \t]+(?:to[ \t]+)?\\*['\"]"
)
_STATEMENT = lazy_re(
    rb"(?i)(?:password|identified[ ](?:with[ ]\S+[ ])?by|passphrase)[ \t]+(?:to[ \t]+)?"
    rb"(\\*['\"])((?:(?!\1)[^\\\n]){4,128})\1"
)
PROTOCOL = rb"\b(?:requirepass|masterauth|PASS|AUTH)[ \t]+\S|[ \t]LOGIN[ \t]+\S+[ \t]+\S"
_PROTOCOL = lazy_re(
    rb"(?:requirepass|masterauth|PASS|AUTH|[ \t]LOGIN[ \t]+\S+)[ \t]+\\*\"?([^\s\"\\]{6,128})"
)
DEFINITION = rb"(?i)(?:\b(?:env|setx|storepass|keypass)|[%#]define)[ \t]+\S"
_DEFINITION = lazy_re(
    rb"(?i)(?:(?:env|setx|[%#]define)[ \t]+(\w{2,80})|(?:store|key)pass)[ \t]+([^\s\"'\\]{6,256})"
)
BARE_TOKEN = (
    rb"(?i)\b(?:token|apikey|basic|secret|(?:access|activation|api|license|pairing|private|recovery)"
    rb"[ ](?:code|key))[ \t]+[\"']?[A-Za-z0-9_+/=-]{20}"
)
_BARE_TOKEN = lazy_re(rb"[\w \t]+?[ \t]+[\"']?([A-Za-z0-9_+/=~.-]{20,512})")
_HEX = lazy_re(rb"(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{20,}")


def commented(text: bytes) -> Iterator[Cut]:
    """Find the texts that a comment behind them calls a secret."""
    for candidate in compiled(COMMENT).finditer(text):
        line = text.rfind(b"\n", 0, candidate.start()) + 1
        for match in _COMMENT.finditer(text, line, min(candidate.end() + 60, line + 2000)):
            if (
                match[2][:1] not in _OF_JSON
                and _kinds(match[2]) >= 2
                and _says_secret(match[3])
                and not is_secret_field(_as_text(match[2]))
            ):
                yield Cut(*match.span(2))


def _says_secret(comment: bytes) -> bool:
    words = re.findall(rb"\w+", comment)
    return len(words) <= 6 and any(name_secrecy(_as_text(word)) is Secrecy.SECRET for word in words)


def statements(text: bytes) -> Iterator[Cut]:
    """Find the password in ``IDENTIFIED BY 'x'`` and ``PASSWORD 'x'``."""
    for candidate in compiled(STATEMENT).finditer(text):
        match = _STATEMENT.match(text, candidate.start())
        if match and not is_ordinary(match[2]) and b" " not in match[2]:
            yield Cut(*match.span(2))


def protocol_lines(text: bytes) -> Iterator[Cut]:
    """Find the password in lines of usual protocols: ``PASS x``, ``a1 LOGIN bob x``."""
    for candidate in compiled(PROTOCOL).finditer(text):
        match = _PROTOCOL.match(text, candidate.start())
        if match and _is_value(match[1], 3):
            yield Cut(*match.span(1))


def definitions(text: bytes) -> Iterator[Cut]:
    """Find the value in ``ENV DB_PASSWORD x``, ``setx DB_PASSWORD x`` and ``-storepass x``."""
    for candidate in compiled(DEFINITION).finditer(text):
        match = _DEFINITION.match(text, candidate.start())
        if match and _is_value(match[2]) and (not match[1] or _names_secret(match[1], match[2])):
            yield Cut(*match.span(2))


def bare_tokens(text: bytes) -> Iterator[Cut]:
    """Find random values behind ``token`` or ``private key``."""
    for candidate in compiled(BARE_TOKEN).finditer(text):
        match = _BARE_TOKEN.match(text, candidate.start())
        if match and (looks_random(_as_text(match[1]), 20, 33) or _HEX.fullmatch(match[1])):
            yield Cut(*match.span(1))


# ---- sentences in other languages

_STATED = lazy_re(rb"[^\n:=\"'\\]{0,16}(?::|=|\xef\xbc\x9a)[ \t]*([^\s\"'`<>\\,;(){}\[\]]{6,64})")
"""With a full-width colon, too."""
FOREIGN = rb"(?i)" + password_words.prefilter()
_QUOTES = (
    (b"'", b"'"), (b'"', b'"'), (b"`", b"`"), ("«".encode(), "»".encode()),
    ("“".encode(), "”".encode()), ("„".encode(), "“".encode()), ("「".encode(), "」".encode()),
    ("『".encode(), "』".encode()),
    ("\u2018".encode(), "\u2019".encode()),
)  # fmt: skip
_ANY_QUOTED = lazy_re(
    rb"|".join(
        rb"(?<!\w)" * (opens.isascii())
        + re.escape(opens)
        + rb"\s?([^\s\"'`\\]{6,64}?)\s?"
        + re.escape(closes)
        for opens, closes in _QUOTES
    )
)


def foreign(text: bytes) -> Iterator[Cut]:
    """Find what a line in another language that names a password has in quotes."""
    done = 0
    for candidate in compiled(FOREIGN).finditer(text):
        if candidate.start() < done:
            continue
        begin = max(text.rfind(b"\n", 0, candidate.start()) + 1, candidate.start() - 200)
        done = text.find(b"\n", candidate.end())
        done = min(len(text) if done < 0 else done, candidate.end() + 200)
        stated = _STATED.match(text, candidate.end())
        if stated and _is_value(stated[1], 3):
            yield Cut(*stated.span(1))
        for match in _ANY_QUOTED.finditer(text, begin, done):
            span = match.span(match.lastindex or 0)
            if _is_value(text[slice(*span)]):
                yield Cut(*span)
