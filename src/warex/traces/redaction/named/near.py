"""Finds values near the name of a secret, whatever the language or the format between them.

A word that no text has by chance (both cases, digits and a sign) is secret within a few lines of
such a name. A weaker one must be the first quoted text behind the name. A table's column has its
name in the first row.
"""

import re
from collections.abc import Iterator

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction import password_words
from warex.traces.redaction.assigned import (
    NAMES,
    NAMES_OF_PARAMETERS,
    PLACEHOLDER,
    Cut,
    is_of_letters,
    is_ordinary,
)
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import Secrecy, looks_random, name_secrecy
from warex.traces.redaction.typed.fields import is_secret_field

# ---- strong words

_STRONG_NAMES = (
    rb"passw|passphrase|passcode|pass\b|assword|pwd|\bpw\b|_pw\b|\bpsk\b|upw\b|securestring"
    rb"|secret|credential|\bcreds?\b|\bhmac|createhmac|\bjwt\b|fernet|bcrypt|argon2|encrypt|decrypt"
    rb"|one-time-code|log_?in\b|sign_?in\b|auth\b|authenticat|authorization|connect[ (]|add_?user"
    rb"|[ \t]-[uU][ \t]|\buser:|\bT:WPA|\bidentify\b|\boper\b|community|\bsnmp"
)
NEAR = rb"(?i)" + _STRONG_NAMES + rb"|" + password_words.prefilter()
_REACH = 160
"""Bytes from the name to the value."""
_LINES = 3
"""Ends of lines between them."""
_STRONG_WORD = lazy_re(rb"(?:(?<=\\[nrt])|(?<![\w!#$%^&*+~?.\\-]))[\w!#$%^&*+~?@.-]{8,64}")
"""Not from within an escape of JSON."""
_ENDS = lazy_re(rb"[.,:;!?]+\Z")
_HOST_BEHIND = lazy_re(rb"@[\w.-]*\Z")
_CASES = (lazy_re(rb"[a-z]"), lazy_re(rb"[A-Z]"), lazy_re(rb"[0-9]"))
_SIGN = lazy_re(rb"[A-Za-z0-9][!#$%^&*+~?@]+[A-Za-z0-9]|[A-Za-z]{2}[.-][0-9]{3,}[A-Za-z]")
_OF_CODE = lazy_re(
    rb"(?i)[\w.-]+@[\w-]+(?:\.[\w-]+)+"  # a mail address
    rb"|.*\.(?:js|css|html?|png|jpe?g|svg|gif|webp|woff2?|json|xml|ya?ml|py|ts|tsx|md|txt|pdf|ico|map)"
    rb"|.*%[0-9a-f]{2}.*%[0-9a-f]{2}.*|v?[0-9]+(?:\.[0-9]+)+.*|.*redacted.*"
    rb"|.*[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[A-Z]{2,5}-[0-9]+[\w.-]*|\w+\*\*\w+"
)
_ATTRIBUTE_BEFORE = lazy_re(
    rb"(?i)\b(?:class(?:name)?|id|for|style|src|href|d|data-[\w-]+|integrity|aria-\w+)\s*=\s*\\*[\"']?[^\"'<>]*\Z"
)


def strong_words(text: bytes) -> Iterator[Cut]:
    """Find the words near a secret's name that only a password is like."""
    done = 0
    for candidate in compiled(NEAR).finditer(text):
        begin, end = _surroundings(text, candidate.start(), candidate.end())
        for match in _STRONG_WORD.finditer(text, max(begin, done), end):
            span = _strong(text, *match.span())
            if span is not None:
                yield Cut(*span)
        done = max(done, end - 64)


_LIKELY_NAMES = (
    rb"passwor[dt]|passwd|passphrase|passcode|pwd\b|\bpw\b|_pw\b|upw\b|\bpsk\b|secret_|_secret|credentials?\b"
    rb"|\bidentify[ ]|\boper[ ]"
)
BESIDE = rb"(?i)" + _LIKELY_NAMES + rb"|" + password_words.prefilter()
_BESIDE = 48
"""Bytes from the name to a weaker word."""
_LIKELY_WORD = lazy_re(
    rb"(?:(?<=\\[nrt])|(?<![\w!#$%^&*+~?.\\/@=-]))[A-Za-z0-9!#$%^&*+~?@]{6,32}(?![\w(\[=/.:-])"
)
_LIKELY = lazy_re(rb"(?=.*[0-9]{2})(?=.*[A-Za-z]{3})")
_TERM = lazy_re(
    rb"(?i)(?:[a-z]{0,8}(?:sha|md|base|utf|auth|http|ipv|aes|rsa|hmac|iso|ascii|latin|win|cp|arm|rfc"
    rb"|crypt|argon|socks|urllib|lib|input|field|user|test|step|page|item|password|passwd|pwd)"
    rb"-?[0-9]{1,4}|[0-9]+[a-z]{1,9}|[a-z][0-9]+)[!?.]?"
)


def likely_words(text: bytes) -> Iterator[Cut]:
    """Find words of letters and digits beside a password's name, except usual terms."""
    done = 0
    for candidate in compiled(BESIDE).finditer(text):
        begin = max(done, candidate.start() - _BESIDE)
        end = min(len(text), candidate.end() + _BESIDE)
        for match in _LIKELY_WORD.finditer(text, begin, end + 32):
            word = _ENDS.sub(b"", match.group())
            if (
                match.start() < end
                and len(word) >= 6
                and (_LIKELY.match(word) or looks_random(word.decode(), 10, 45))
                and _TERM.fullmatch(word) is None
                and not is_ordinary(word)
                and not is_secret_field(word.decode())
                and _ATTRIBUTE_BEFORE.search(text[max(0, match.start() - 120) : match.start()])
                is None
            ):
                yield Cut(match.start(), match.start() + len(word))
        done = max(done, end - _BESIDE)


def _surroundings(text: bytes, begin: int, end: int) -> tuple[int, int]:
    """Return the part of a text that is near a name, with whole words."""
    first, last = begin, end
    for _ in range(_LINES):
        first = max(text.rfind(b"\n", max(0, begin - _REACH), first), begin - _REACH, 0)
        line = text.find(b"\n", last + 1, end + _REACH)
        last = min(len(text) if line < 0 else line, end + _REACH)
    while first > 0 and begin - first < 2 * _REACH and not text[first - 1 : first].isspace():
        first -= 1
    while last < len(text) and last - end < 2 * _REACH and not text[last : last + 1].isspace():
        last += 1
    return first, last


def _strong(text: bytes, begin: int, end: int) -> tuple[int, int] | None:
    word = text[begin:end]
    if (host := _HOST_BEHIND.search(word)) is not None and _is_strong(word[: host.start()]):
        word = word[: host.start()]
    word = _ENDS.sub(b"", word)
    if not _is_strong(word) or PLACEHOLDER.match(word):
        return None
    before = text[max(0, begin - 120) : begin]
    if before.endswith(b"/") or _ATTRIBUTE_BEFORE.search(before):
        return None
    return begin, begin + len(word)


def _is_strong(word: bytes) -> bool:
    return (
        len(word) >= 8
        and all(kind.search(word) for kind in _CASES)
        and _SIGN.search(word) is not None
        and _OF_CODE.fullmatch(word) is None
    )


AT_HOST = rb"[A-Za-z][\w.-]*[:/][^\s:/@\"'\\]{8,64}@[A-Za-z]|:[0-9]{2,5}:[\w*]+:[\w.-]+:[^\s:]{6}"
_AT_HOST = lazy_re(
    rb"(?<![\w.:/-])[A-Za-z][\w.-]{0,32}[:/]([^\s:/@\"'\\]{8,64})@[A-Za-z]"
    rb"|(?<=:)[0-9]{2,5}:[\w*]+:[\w.-]+:([^\s:\"'\\]{6,64})(?=\s|\Z|\\n)"
)


def at_host(text: bytes) -> Iterator[Cut]:
    """Find the password in ``bob/x@host`` and in lines of ``.pgpass``."""
    for match in _AT_HOST.finditer(text):
        span = match.span(match.lastindex or 0)
        if _is_strong(text[slice(*span)]):
            yield Cut(*span)


def strong_values(text: str) -> frozenset[str]:
    """Return the words of a short text near a secret's name that only a password is like."""
    data = text.encode("utf-8", "surrogatepass")
    cuts = (*strong_words(data), *likely_words(data))
    return frozenset(data[cut.begin : cut.end].decode("utf-8") for cut in cuts)


# ---- the first quoted text behind a name

_PREFIX = rb"(?:\b[A-Za-z]{1,2}|@|&|\$)?"
_QUOTED_NAMES = rb"pass|pwd|\bpw\b|_pw\b|psk|secret|token|api_?key|cred|otp\b|\bpin\b"
_QUOTED_NAME = rb"(?i)(?:" + _QUOTED_NAMES + rb"|" + password_words.prefilter() + rb")"
QUOTED = _QUOTED_NAME + rb"\w*[\"'`)\]}/i]*[^\w\"'`]"
_TO_QUOTE = lazy_re(rb"\w*[\"'`)\]}/i]*[^\w\"'`][^\"'`\n]{0,28}\n?[^\"'`\n]{0,28}[\"'`]")
"""What stands between the name and the quote; RE2 would have a state for each of its lengths."""
ANY_NAME = rb"(?i)" + rb"|".join((NAMES_OF_PARAMETERS, _STRONG_NAMES, _LIKELY_NAMES, _QUOTED_NAMES))
"""Prefilter: a text without it has no name of a secret, in English or another language."""
_NAME = lazy_re(rb"[\w\x80-\xff-]+")
_GLUE = lazy_re(rb"(\\*[\"'`]?)([^\"'`\\\n]{0,28}(?:=>\r?\n[^\"'`\\\n]{1,28})?)(\\*[\"'`])")
_LINKS = lazy_re(
    rb"[)\]}/i ]*(?:[:=|~.(\[{<>-]+|as\b|is\b)[^,]*|[ )\]/i]*,[ ]*\w+[ ]*(?::|=>?)[ ]*"
    rb"|[)\]/i ]*,[ ]*(?:<<|@|[a-z])?[ ]*|;s:[0-9]+:|\]=>\s*string\([0-9]+\)[ ]*"
    rb"|[ ]*\{[ ]*\w+[ ]*=[ ]*"
)
_IS_KEY = lazy_re(rb"\s*:")
_NEXT_ATTRIBUTE = lazy_re(rb"[ ]+[\w:-]+[ ]?=[ ]?|>.*|.*<\w.*|.*[ ][\w-]+=")


def quoted_behind(text: bytes) -> Iterator[Cut]:
    """Find the first quoted text behind a secret's name, with types, calls or signs between."""
    done = 0
    for candidate in compiled(_QUOTED_NAME).finditer(text):
        begin = candidate.start()
        to_quote = _TO_QUOTE.match(text, candidate.end()) if begin >= done else None
        if to_quote is None:
            continue
        done = to_quote.end()
        while begin and candidate.start() - begin < 40 and _NAME.match(text[begin - 1 : begin]):
            begin -= 1
        named = _NAME.match(text, begin)
        glue = _GLUE.match(text, named.end()) if named else None
        if named is None or glue is None:
            continue
        closing, link, mark = glue.groups()
        if (closing and _NEXT_ATTRIBUTE.fullmatch(link)) or not _LINKS.fullmatch(link):
            continue
        end = text.find(mark, glue.end(), glue.end() + 130)
        if b"{" in link and _IS_KEY.match(text, end + len(mark)):
            continue  # An object, whose first key this is.
        value = text[glue.end() : end] if end > 0 else b""
        if _is_name(named.group()) and (_is_weak(value) or is_of_letters(named.group(), value)):
            yield Cut(glue.end(), end)


def _is_name(name: bytes) -> bool:
    decoded = name.decode("utf-8", "replace")
    return name_secrecy(decoded) is Secrecy.SECRET or is_secret_field(decoded)


_WEAK = lazy_re(rb"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[^\s\"'`\\<>()\[\]{}]{6,128}")


def _is_weak(value: bytes) -> bool:
    """Whether a quoted text beside a name may be its value: a word with letters and digits."""
    return (
        _WEAK.fullmatch(value) is not None
        and value[:1] not in (b"#", b".", b"/", b":", b",")
        and b"://" not in value
        and not is_ordinary(value)
        and not PLACEHOLDER.match(value)
        and not is_secret_field(value.decode("utf-8", "replace"))
        and _OF_CODE.fullmatch(value) is None
    )


# ---- columns of tables

COLUMN = rb"(?im)(?:^|[,;\t|])[ \"]*[\w -]*" + NAMES + rb"[\w -]*[ \"]*(?:$|[,;\t|\r])"
_RULE = lazy_re(rb"[\s|:+-]+")
_HEADING = lazy_re(rb"[\w\x80-\xff][\w\x80-\xff -]{0,39}")
_LONGEST_HEAD = 400
_LONGEST_ROW = 4000
_MOST_ROWS = 200


def columns(text: bytes) -> Iterator[Cut]:
    """Find the values below a secret's name in CSV, TSV and Markdown."""
    done = 0
    for candidate in compiled(COLUMN).finditer(text):
        place = candidate.end() - 1
        begin = text.rfind(b"\n", max(0, place - _LONGEST_HEAD), place) + 1
        end = text.find(b"\n", place, begin + _LONGEST_HEAD)
        if begin < done or end < 0:
            continue
        head = text[begin:end]
        sign = next((each for each in (b"\t", b"|", b";", b",") if each in head), None)
        if sign is None:
            continue
        names = [cell.strip(b' "\r') for cell in head.strip(b"|\r").split(sign)]
        if len(names) < 2 or not all(map(_HEADING.fullmatch, names)) or head[:1] in b" '(":
            continue
        secret = [
            place for place, name in enumerate(names) if name.count(b" ") <= 2 and _is_name(name)
        ]
        if not secret:
            continue
        for row in range(_MOST_ROWS):
            begin, done = end + 1, end
            end = text.find(b"\n", begin, begin + _LONGEST_ROW)
            end = min(len(text), begin + _LONGEST_ROW) if end < 0 else end
            edge = len(text[begin:end]) - len(text[begin:end].lstrip(b"|"))
            cells = text[begin + edge : end].rstrip(b"|\r").split(sign)
            if begin >= len(text) or len(cells) != len(names):
                break
            if row == 0 and _RULE.fullmatch(text[begin:end]):
                continue
            for place in secret:
                cell = cells[place].strip(b' "\r')
                at = text.find(
                    cell, begin + edge + sum(map(len, cells[:place])) + place * len(sign)
                )
                if _is_weak(cell) or is_of_letters(names[place], cell):
                    yield Cut(at, at + len(cell))


_CELL = rb"[ \t*_`]*"
ROW = (
    rb"(?im)^[ \t]*\|"
    + _CELL
    + rb"[\w -]*"
    + NAMES
    + rb"[\w -]*:?"
    + _CELL
    + rb"\|[^|\r\n]{1,200}\|"
    rb"[ \t]*\r?$"
)


def rows(text: bytes) -> Iterator[Cut]:
    """Find the values beside a secret's name in Markdown's tables of two columns."""
    for candidate in compiled(ROW).finditer(text):
        line = text[candidate.end() :].lstrip(b"\r\n")[:_LONGEST_HEAD].partition(b"\n")[0]
        if line and _RULE.fullmatch(line):
            continue  # These are the heads of columns.
        name, cell = (it.strip(b" \t*_`:") for it in candidate.group().split(b"|")[1:3])
        at = text.rfind(cell, candidate.start(), candidate.end())
        if cell and _is_name(name) and (_is_weak(cell) or is_of_letters(name, cell)):
            yield Cut(at, at + len(cell))


# ---- codes

_OTHER_CODES = (
    "bestätigungscode|sicherheitscode|code de vérification|código de verificación|验证码|認証コード"
)
CODE = (
    rb"(?i)(?:verification|confirmation|one-time|security|log-?in|sign-?in|authentication|access)"
    rb"[ -](?:code|passcode|pin)|\b(?:otp|totp|2fa)\b|code.{0,40}(?:verify|sign in|log in|share)"
    rb"|[0-9]{4,8} to (?:sign|log) in|" + _OTHER_CODES.encode()
)
_DIGITS = lazy_re(rb"(?<![\w.,$:/-])(?:[0-9]{4,8}|[0-9]{3}[ -][0-9]{3})(?![\w/:-]|[.,][0-9])")


def codes(text: bytes) -> Iterator[Cut]:
    """Find the digits in the sentence that gives somebody a code."""
    for candidate in compiled(CODE).finditer(text):
        begin = max(0, candidate.start() - 40)
        begin = max(text.rfind(b"\n", begin, candidate.start()) + 1, begin)
        last = min(len(text), candidate.end() + 40)
        end = text.find(b"\n", candidate.end(), last)
        end = last if end < 0 else end
        for match in _DIGITS.finditer(text, begin, end):
            if not re.fullmatch(rb"(?:19|20)[0-9]{2}", match.group()):
                yield Cut(*match.span())
