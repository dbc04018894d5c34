"""Finds what is typed into fields for passwords, where an action names its field beside the value.

An action names its field by a selector, by a label, or by the id that an observation gave it. It is
a call in code, a line of a benchmark's own grammar, a sentence, or an object of a tool call.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from warex.text.lazy_pattern import lazy_re
from warex.traces.redaction.assigned import GOES_ON, NAMES, PLACEHOLDER, Cut, closing_quote
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import Secrecy, name_secrecy
from warex.traces.redaction.typed.fields import (
    FIELD,
    REFS,
    TARGETS,
    VERBS,
    is_field,
    is_secret_field,
    spaced,
    typed_keys,
)


def _is_field(text: bytes, refs: Collection[str] = ()) -> bool:
    return is_field(text.decode("utf-8", "replace").strip("\\\"'` "), refs)


_OBJECT = rb"(?i)\{[^{}]*" + NAMES + rb"[^{}]*\}"
_KEY = lazy_re(rb"(?:\A|[{,\s(])(?:\\*[\"'])?([A-Za-z_][\w-]{0,40})(?:\\*[\"'])?\s{0,3}[:=]\s{0,3}")
_NUMBER = lazy_re(rb"-?[\w@.-]{1,20}")


class _Argument(NamedTuple):
    name: str
    begin: int
    end: int
    is_text: bool


def _objects(text: bytes, refs: Collection[str]) -> Iterator[Cut]:
    pattern = rb"\{[^{}]*\}" if refs else _OBJECT
    for match in compiled(pattern).finditer(text):
        begin, end = match.span()
        if end - begin > 4000:
            continue
        fields = [field for field in _arguments(text, begin + 1, end) if field.name]
        named = {
            field.name: text[field.begin : field.end].decode("utf-8", "replace") for field in fields
        }
        secret = typed_keys(named, refs)
        yield from (Cut(it.begin, it.end) for it in fields if it.name in secret and it.is_text)


_MARK = lazy_re(rb"(\\*)([\"'`])|\)|\(|[A-Za-z_][\w-]{0,40}\s{0,3}[:=]\s{0,3}[\w@.-]{1,20}")


def _arguments(text: bytes, begin: int, end: int) -> list[_Argument]:
    """Return the texts and named numbers up to ``end`` or to the bracket that closes a call."""
    arguments: list[_Argument] = []
    place, deep = begin, 0
    while place < end and len(arguments) < 16:
        mark = _MARK.search(text, place, end)
        if mark is None:
            break
        place = mark.end()
        if mark[0] in (b"(", b")"):
            deep += 1 if mark[0] == b"(" else -1
            if deep < 0:
                break
            continue
        if mark[2] is None:
            name, value = re.split(rb"\s*[:=]\s*", mark[0], maxsplit=1)
            arguments.append(_Argument(name.decode(), mark.end() - len(value), mark.end(), False))
            continue
        close = closing_quote(text, place, mark[1] + mark[2])
        if text[place : place + len(mark[0])] == mark[0]:
            place += len(mark[0])
            continue
        # Such a quote closes the text before it.
        if close == place or close > end or text[place : place + 1] in GOES_ON:
            break
        if (
            text[close + len(mark[0]) :][:3].lstrip()[:1] in (b":",)
            and text[begin - 1 : begin] == b"{"
        ):
            # The key of an object: its value follows.
            key = text[place:close].decode("utf-8", "replace")
            place = close + len(mark[0])
            value_mark = re.compile(rb"\s{0,3}:\s{0,3}(?:(\\*[\"'`])|([\w@.-]{1,20}))").match(
                text, place
            )
            if value_mark is None:
                continue
            if value_mark[2] is not None:
                arguments.append(_Argument(key, *value_mark.span(2), False))
                place = value_mark.end()
                continue
            stop = closing_quote(text, value_mark.end(), value_mark[1])
            if stop > value_mark.end():
                arguments.append(_Argument(key, value_mark.end(), stop, True))
            place = max(stop, value_mark.end()) + len(value_mark[1])
            continue
        before = _NAME_BEFORE.search(text, max(begin, mark.start() - 48), mark.start())
        arguments.append(_Argument(before[1].decode() if before else "", place, close, True))
        place = close + len(mark[0])
    return arguments


_NAME_BEFORE = lazy_re(rb"([A-Za-z_][\w-]{0,40})\s{0,3}[:=]\s{0,3}\Z")

# ---- calls

_CALL = (
    rb"(?i)(?:fill|type|send_?keys|sequentially|set_?value|set_?text|input|write|enter|insert_?text"
    rb"|paste|val|add_?value|typewrite|put|act)\w*[ \t]*\(|\.set[ ]|\.value[ \t]*=[ \t]*"
)
_BACK = 240
_RECEIVER = lazy_re(rb"([\w$]{2,60})(?:\[\d+\])?\??\.\s*\Z")
_LITERAL = lazy_re(rb"(\\*[\"'`])((?:(?!\1)[^\"\\\n]){1,200}?)\1")
_COMMENT_BEFORE = lazy_re(rb"(?:#|//)[ \t]*([^\n]{2,60})\n[^\n]{0,80}\Z")
_VALUE_FIRST = frozenset({b"write", b"put", b"enter", b"paste", b"typewrite", b"input"})


def _calls(text: bytes, refs: Collection[str]) -> Iterator[Cut]:
    for match in compiled(_CALL).finditer(text):
        begin = match.end()
        end = min(len(text), begin + 800)
        if match.group().rstrip().endswith(b"="):
            newline = text.find(b"\n", begin, end)
            arguments = _arguments(text, begin, newline if newline > 0 else end)[:1]
        else:
            arguments = _arguments(text, begin, end)
        texts = [argument for argument in arguments if argument.is_text]
        if texts:
            yield from _typed_by_call(text, match.span(), texts, arguments, refs)


def _typed_by_call(
    text: bytes,
    call: tuple[int, int],
    texts: Sequence[_Argument],
    arguments: Sequence[_Argument],
    refs: Collection[str],
) -> Iterator[Cut]:
    def value(argument: _Argument) -> bytes:
        return text[argument.begin : argument.end]

    names = [argument.name.lower() for argument in arguments if argument.name]
    if len(set(names)) < len(names):
        return  # Several fields at once: each is an object of its own.
    named = [it for it in arguments if it.name.lower() in TARGETS | REFS]
    free = [it for it in texts if it not in named]
    if named:
        hit = any(_is_field(value(it), refs) for it in named)
        hit = hit or (len(free) == 1 and _is_explained(text, free[0].end))
        yield from (Cut(it.begin, it.end) for it in free if hit)
        return
    if len(free) == 1:
        if _is_received(text, call[0], refs) or _is_explained(text, free[0].end):
            yield Cut(free[0].begin, free[0].end)
        return
    if free and _is_field(value(free[0]), refs):
        yield from (Cut(it.begin, it.end) for it in free[1:])
        return
    value_first = text[call[0] : call[1]].lower().startswith(tuple(_VALUE_FIRST))
    if free and value_first and _is_field(value(free[-1]), refs):
        yield Cut(free[0].begin, free[0].end)


def _is_received(text: bytes, call: int, refs: Collection[str]) -> bool:
    """Whether what stands before a call with one text names a field for a secret."""
    begin = max(0, call - _BACK)
    head = text[begin:call]
    receiver = _RECEIVER.search(head)
    if receiver and is_secret_field(spaced(receiver[1].decode())):
        return True
    comment = _COMMENT_BEFORE.search(head)
    if comment is not None and _names_secret(comment[1]):
        return True
    last = _last(_LITERAL.finditer(head))
    if last is None or head.count(b"\n", last.end()) > 2:
        return False
    return is_field(last[2].decode("utf-8", "replace"), refs)


def _is_explained(text: bytes, end: int) -> bool:
    """Whether the comment behind a call whose last text ends here names a secret."""
    comment = _COMMENT_BEHIND.match(text, end)
    return comment is not None and _names_secret(comment[1])


_COMMENT_BEHIND = lazy_re(rb"\\*[\"'`][ \t]*\)[);]*[ \t]*(?:#|//)[ \t]*([^\n\\\"]{2,40})")


def names_field_before(text: bytes, call: int, refs: Collection[str]) -> bool | None:
    """Whether the last text before a call names a field for a secret; None if there is none."""
    last = _last(_LITERAL.finditer(text, max(0, call - _BACK), call))
    return None if last is None else _is_field(last[2], refs)


# ---- actions of named parts: the arguments of a call, or a line each

_DOES = rb"(?:action|act|cmd|command|method|op|operation|step|type)"
_ACT = rb"(?i)\(\s*" + _DOES + rb"\s*=\s*[\"']" + VERBS
_STEP = rb"(?im)^[ \t-]*" + _DOES + rb"[ \t]*:[ \t]*" + VERBS
_PART = lazy_re(rb"[ \t-]*([A-Za-z_][\w-]{0,40})[ \t]*:[ \t]*([^\r\n]{1,200})(?:\r?\n|\Z)")
_MOST_PARTS = 6


def _acts(text: bytes, refs: Collection[str]) -> Iterator[Cut]:
    """Find what is typed by ``do(action="Type", element="Password", text="x")``."""
    for match in compiled(_ACT).finditer(text):
        begin = match.start() + 1
        yield from _typed_parts(text, _arguments(text, begin, min(len(text), begin + 800)), refs)


def _lines(text: bytes, refs: Collection[str]) -> Iterator[Cut]:
    """Find what is typed by an action of which each part is a line."""
    for match in compiled(_STEP).finditer(text):
        parts, place = list[_Argument](), match.start()
        while len(parts) < _MOST_PARTS and (part := _PART.match(text, place)):
            parts.append(_Argument(part[1].decode(), *part.span(2), is_text=True))
            place = part.end()
        yield from _typed_parts(text, parts, refs)


def _typed_parts(text: bytes, parts: Sequence[_Argument], refs: Collection[str]) -> Iterator[Cut]:
    named = {it.name: _as_text(text[it.begin : it.end]).strip("\"' ") for it in parts if it.name}
    secret = typed_keys(named, refs)
    yield from (Cut(it.begin, it.end) for it in parts if it.name in secret and it.is_text)


# ---- the grammars of benchmarks

_BRACKETS = rb"(?i)\b(?:type|fill|input)[ \t]*\["
_IN_ONE = lazy_re(rb"\w+[ \t]*\[([^\],\n]{1,80}),[ \t]*([^\]\n\"\\]{1,200})\]")
_BRACKETED = re.compile(
    rb"(?:\w+)[ \t]*\[([^\]\n]{1,80})\][ \t]*[;,]?[ \t]*"
    rb"(?:(?:Content|text)[:=][ ]?)?\[([^\]\n\"\\]{1,200})\]"
)
_MENTION = (
    rb"(?i)(pass(?:word|code|phrase)|pwd\b|\bpin\b|passwor[td])"
    rb"|user ?name|e-?mail|search|address|name field|\blogin field|\bphone"
)
_MENTIONS = lazy_re(_MENTION)


def _brackets(text: bytes, refs: Collection[str]) -> Iterator[Cut]:
    for candidate in compiled(_BRACKETS).finditer(text):
        match = _BRACKETED.match(text, candidate.start()) or _IN_ONE.match(text, candidate.start())
        if match is None:
            continue
        target = match[1]
        by_words = target.isalnum() and not refs and mentions_secret(text[: candidate.start()])
        if _is_field(target, refs) or by_words:
            yield Cut(*match.span(2), in_brackets=match.re is _BRACKETED)


def _last(matches: Iterator[re.Match[bytes]]) -> re.Match[bytes] | None:
    return next(iter(deque(matches, maxlen=1)), None)


def mentions_secret(text: bytes) -> bool | None:
    """Whether the last field that a text mentions is for a password; None if it mentions none."""
    text = text[-400:]
    if compiled(_MENTION).search(text) is None:
        return None  # Python's search takes ten times as long.
    last = _last(_MENTIONS.finditer(text))
    return None if last is None else last[1] is not None


# ---- sentences and command lines

_VERB = rb"(?i)\b" + VERBS
_SENTENCE = lazy_re(rb"[^\n]{1,240}")
_INTO = lazy_re(rb"\s*(?:\w+\s+){0,2}?(?:in|into|on|for|as|to|at)\b(?:\s+the|\s+your)?\s*")
_INSIDE = (b"<", b"#", b".", b"-", b"_", b"\\")
"""Before a word that is not a verb of a sentence."""
_MARKS = (b'"', b"'", b"`")
_QUOTED = lazy_re(rb"(?<![\w\\])(\\*[\"'`])((?:(?!\1)[^\"\\\n]){1,200}?)\1(?!\w)")
_PARTLY_REDACTED = lazy_re(rb"\s\[redacted|\[redacted\S*\]\s")
"""A sentence with a placeholder, no value."""
_KEY_END = lazy_re(rb"[ \t]{0,3}:")
"""Behind the key of an object, no value."""
_LINKS = lazy_re(rb"[\s,]*(?:\w+[\s,]+){0,4}")
_LEADS = lazy_re(rb"[\w\s,:()-]*")
_STOP = lazy_re(rb"[.;\n\"'`]")
_UNQUOTED = lazy_re(
    rb"\w+\s+([^\s\"\\]{6,64})\s+(?:in|into|as|for)\s+(?:the\s+|your\s+)?([^\n.;,]{2,40})"
)
_WITH = lazy_re(
    rb"\w+\s+(?:in\s+|out\s+)?(?:the\s+|your\s+)?([^\n.;,:=]{2,40}?)\s*(?:\bwith|\bto|\bas|\busing|[:=])\s+([^\s\"\\]{6,64})"
)
_COMMANDED = lazy_re(
    rb"\w+(?:[ ](?:Text|Password|Secret))?[ ]+((?:id|name|css|xpath|label)[:=][^\s\"']{1,80}"
    rb"|[#.\[@/]\S{1,80}|(?:e|ref)?\d{1,6}|\\*\"[^\"\\\n]{1,80}\\*\")[ ]+"
    rb"(?:\\*[\"'])?([^\s\"'\\]{2,128})"
)


def _sentences(text: bytes, refs: Collection[str]) -> Iterator[Cut]:
    for verb in compiled(_VERB).finditer(text):
        before = text[verb.start() - 1 : verb.start()]
        word_end = text[verb.end() : verb.end() + 2].lstrip(b"\\")[:1]
        if before in _INSIDE or (before in _MARKS and word_end in _MARKS):
            continue
        window = _SENTENCE.match(text, verb.start())
        if window is not None:
            yield from _quoted(text, verb.end(), window.end(), refs)
            yield from _unquoted(text, verb.start(), refs)


def _quoted(text: bytes, begin: int, end: int, refs: Collection[str]) -> Iterator[Cut]:
    """Find the quoted texts of a sentence whose field stands before or behind them."""
    literals = list(_QUOTED.finditer(text, begin, end))[:6]
    for place, literal in enumerate(literals):
        if is_secret_field(_as_text(literal[2])) or _PARTLY_REDACTED.search(literal[2]):
            continue
        if _KEY_END.match(text, literal.end()):
            continue
        before = literals[place - 1] if place else None
        lead = text[before.end() if before else begin : literal.start()][-60:]
        into = _INTO.match(text, literal.end())
        behind = text[into.end() : into.end() + 60] if into else b""
        after = literals[place + 1] if place + 1 < len(literals) else None
        if into and after and after.start() == into.end():
            hit = _is_field(after[2], refs)
        elif into:
            stop = _STOP.search(behind)
            hit = _names_secret(behind[: stop.start()] if stop else behind)
        else:
            hit = False
        if before and not hit:
            hit = (
                len(lead) <= 40
                and _is_field(before[2], refs)
                and _LINKS.fullmatch(lead) is not None
            )
        if not hit and not into:
            hit = _LEADS.fullmatch(lead) is not None and _names_secret(lead)
        if hit:
            yield Cut(*literal.span(2))


def _names_secret(text: bytes) -> bool:
    """Whether the last field that a part of a sentence names is for a secret."""
    for word in reversed(_as_text(text).split()):
        bare = word.strip("()[]:,!?*").lower()
        if bare in ("username", "email", "user", "search", "login", "name"):
            return False
        if name_secrecy(bare) is Secrecy.SECRET:
            return True
    return False


_MIXED = lazy_re(rb"(?=\S*[0-9!@#$%^&*+=~?_-])(?=\S*[A-Za-z])\S{6,}")


def _unquoted(text: bytes, begin: int, refs: Collection[str]) -> Iterator[Cut]:
    match = _UNQUOTED.match(text, begin)
    if match and _MIXED.fullmatch(match[1]) and _names_secret(match[2]):
        yield Cut(*match.span(1))
    match = _WITH.match(text, begin)
    if match and _MIXED.fullmatch(match[2]) and _names_secret(match[1]):
        yield Cut(*match.span(2))
    match = _COMMANDED.match(text, begin)
    if match and _is_field(match[1], refs):
        yield Cut(*match.span(2))


# ---- observations

_OBSERVED = (
    rb"(?i)(?:textbox|text ?field|searchbox|edit(?: ?text)?|entry|secure text|password ?text"
    rb"|input)\b"
    rb"[^\n\"'<>]*[\"'][^\"'\n]*" + NAMES
)
_FIELD_LINE = lazy_re(
    rb"[\w ]{4,24}[^\n\"'<>]{0,60}(\\*[\"'])([^\"'\n\\]{1,120})\\*[\"']([^\n]{0,160})"
)
_VALUE_OF_FIELD = lazy_re(
    rb"[^\n]{0,120}?(?:\bvalue\s?[=:]\s?|\btext\s?[=:]\s?)"
    rb"(?:\\*([\"'])([^\"'\\\n]{1,128})|([^\s\"'\\,\]]{1,128}))"
)
_AFTER_COLON = lazy_re(
    rb"(?:\s?\[[^\]\n]{0,40}\]|\s?\([^)\n]{0,40}\)){0,6}"
    rb":[ ]+\\*[\"']?([^\s\"'\\\n][^\"'\\\n]{0,127})"
)


def _observed(text: bytes) -> Iterator[Cut]:
    """Find the values of fields in accessibility trees."""
    for candidate in compiled(_OBSERVED).finditer(text):
        match = _FIELD_LINE.match(text, candidate.start())
        if match is None or not is_secret_field(_as_text(match[2])):
            continue
        begin, end = match.span(3)
        value = _VALUE_OF_FIELD.match(text, begin, end)
        span = value.span(2 if value[1] else 3) if value else None
        if span is None:
            colon = _AFTER_COLON.match(text, begin, end)
            span = colon.span(1) if colon else None
        if (
            span
            and not PLACEHOLDER.match(text, span[0])
            and text[span[0] : span[1]].strip(b"*\xe2\x80\xa2 ")
        ):
            yield Cut(*span)


def _as_text(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def typed_values(text: bytes, refs: Collection[str] = ()) -> Iterator[Cut]:
    """Find what is typed into fields for secrets; ``refs`` are the ids of such fields."""
    if not refs and compiled(FIELD).search(text) is None:
        return
    values = {
        *_calls(text, refs),
        *_objects(text, refs),
        *_brackets(text, refs),
        *_sentences(text, refs),
        *_observed(text),
        *_acts(text, refs),
        *_lines(text, refs),
    }
    yield from (it for it in values if it.begin < it.end and not PLACEHOLDER.match(text, it.begin))
