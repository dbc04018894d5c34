"""Finds what is typed into fields for passwords, where an action names its field beside the value.

An action names its field by a selector, by a label, or by the id that an observation gave it. It is
a call in code, a line of a benchmark's own grammar, a sentence, or an object of a tool call.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from warex.traces.redaction import password_words
from warex.traces.redaction.assigned import GOES_ON, NAMES, PLACEHOLDER, Cut, closing_quote
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import Secrecy, name_secrecy

FIELD = (
    rb"(?i)pass(?:w|code|phrase|\b|_)|passwor[td]|pwd|pw\b|psk|secret|\b(?:otp|pin|totp|mfa|cvv|cvc|ssn)\b"
    rb"|(?:api|access|auth|login|security|verification|recovery|license)[ _-]?(?:key|token|code)"
    rb"|one[ -]time|" + password_words.prefilter()
)
"""Prefilter: words in the names of fields for secrets."""
_VERBS = (
    rb"(?:fill|typ(?:e|ed|ing)\b|type_|type[A-Z]|send_?keys|press_?sequentially|input|writ(?:e|ing)"
    rb"|enter|insert|paste|put|set|keyboard|val\b|add_?value|typewrite|use|provide|submit|act\b)"
)
TYPING = (
    rb"(?i)\b(?:\w+[_.])?"
    + _VERBS
    + rb"|textbox|<input|secure text|\.value[ ]?=|\"(?:text|value|keys)"
)
"""Prefilter: words of an action that types, or of an observation of a field."""

# ---- fields

_IS_PASSWORD = re.compile(r"type\s*=\s*['\"\\]*password\b", re.IGNORECASE)
_SELECTOR = re.compile(r"[#\[@=]|//|^\.")
_PARTS_OF_SELECTOR = re.compile(r"(?:\[[^\]]{0,200}\]|[^\s/>\[]){1,300}")
_NAMES_IN_SELECTOR = re.compile(r"[#.]([\w-]+)|['\"\\]([\w\[\] -]{1,80})['\"\\]|=\s*([\w-]+)\s*\]")
_BY_WAY = re.compile(r"\([^)]{0,80}\)|[*:?…]")
_ROLES = frozenset(
    [
        "a",
        "an",
        "area",
        "box",
        "control",
        "current",
        "edit",
        "element",
        "entry",
        "enter",
        "field",
        "fld",
        "form",
        "here",
        "in",
        "input",
        "inputs",
        "into",
        "label",
        "login",
        "my",
        "new",
        "of",
        "old",
        "placeholder",
        "please",
        "repeat",
        "required",
        "retype",
        "role",
        "secure",
        "test",
        "text",
        "textarea",
        "textbox",
        "textfield",
        "the",
        "type",
        "value",
        "wrapper",
        "your",
    ]
)
"""Words of a label beside the name of the field."""
_OTHERWISE = frozenset(
    [
        "button",
        "checkbox",
        "filter",
        "find",
        "forgot",
        "forgotten",
        "generator",
        "hide",
        "icon",
        "link",
        "manager",
        "meter",
        "search",
        "show",
        "strength",
        "toggle",
        "username",
        "user",
        "email",
        "e-mail",
    ]
)
"""Words of labels of what no password is typed into."""


@lru_cache(maxsize=4096)
def is_secret_field(text: str) -> bool:
    """Whether a selector or a label names a field for a secret."""
    if not text or len(text) > 300:
        return False
    if _IS_PASSWORD.search(text):
        return True
    if _SELECTOR.search(text):
        parts = _PARTS_OF_SELECTOR.findall(text)
        named = _NAMES_IN_SELECTOR.findall(parts[-1] if parts else text)
        return any(_is_secret_label(name) for names in named for name in names if name)
    return _is_secret_label(text)


def _is_secret_label(text: str) -> bool:
    said = _BY_WAY.sub(" ", text)
    if not text.isascii() and len(text) <= 60 and name_secrecy(said) is Secrecy.SECRET:
        return True
    words = re.findall(r"[^\W\d_]+|\d+", _spaced(said))
    if len(words) > 7 or any(word.lower() in _OTHERWISE for word in words):
        return False
    name = "_".join(word for word in words if word.lower() not in _ROLES)
    return name_secrecy(name) is Secrecy.SECRET


def _spaced(text: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)


def _is_field(text: bytes, refs: Collection[str] = ()) -> bool:
    name = text.decode("utf-8", "replace").strip("\\\"'` ")
    return name.removeprefix("@") in refs or is_secret_field(name)


# ---- objects

_TARGETS = frozenset(
    [
        "aria_label",
        "by",
        "css",
        "element",
        "element_description",
        "field",
        "field_name",
        "input_name",
        "into",
        "label",
        "locator",
        "placeholder",
        "selector",
        "target",
        "target_element",
        "xpath",
        "where",
    ]
)
"""Keys of the field that a value is typed into."""
_NAMES_OF_PAIRS = frozenset({"key", "name", "type", "id", "title", "attribute"})
"""Keys of a name; only ``value`` beside it is its value."""
_VALUES = frozenset(
    [
        "args",
        "arguments",
        "content",
        "data",
        "input",
        "input_text",
        "keys",
        "keystrokes",
        "params",
        "string",
        "text",
        "to_type",
        "typed",
        "typed_text",
        "val",
        "value",
        "values",
        "write",
    ]
)
_REFS = frozenset(
    [
        "bid",
        "element",
        "element_id",
        "elementid",
        "id",
        "index",
        "mark",
        "mark_id",
        "node_id",
        "nodeid",
        "ref",
        "target",
        "uid",
        "element_index",
        "encodedid",
    ]
)
"""Keys of the id that an observation gave to a field."""


def _spelled(keys: Collection[str]) -> frozenset[str]:
    """Return keys as objects spell them."""
    ways = {way for key in keys for way in (key, key.title(), key.upper(), key.replace("_", "-"))}
    joined = {"".join(part.title() for part in key.split("_")) for key in keys}
    return frozenset(ways | joined | {key[0].lower() + key[1:] for key in joined})


_FIELDS = _spelled(_TARGETS | _NAMES_OF_PAIRS | _REFS)
_HELD = _spelled(_VALUES)


def typed_keys(fields: Mapping[str, object], refs: Collection[str] = ()) -> frozenset[str]:
    """Return the keys of an object whose values are typed into a field for a secret."""
    if _HELD.isdisjoint(fields) or _FIELDS.isdisjoint(fields):
        return frozenset()
    keys = {key.lower().replace("-", "_"): key for key in fields}
    known = {key: str(fields[name]) for key, name in keys.items() if _is_plain(fields[name])}
    values = {name for key, name in keys.items() if key in _VALUES}
    if not values:
        return frozenset()
    if any(is_secret_field(known[key]) for key in _TARGETS & known.keys()) or any(
        known[key].removeprefix("@") in refs for key in _REFS & known.keys()
    ):
        return frozenset(values)
    if any(is_secret_field(known[key]) for key in _NAMES_OF_PAIRS & known.keys()):
        return frozenset(name for name in values if name.lower() in ("value", "values", "val"))
    return frozenset()


def value_keys(fields: Mapping[str, object]) -> frozenset[str]:
    """Return the keys of an object that may hold what is typed."""
    return frozenset(
        name for name in fields if name.lower() in ("text", "value", "keys", "content")
    )


def has_target(fields: Mapping[str, object]) -> bool:
    """Whether an object names the field that it types into."""
    return any(name.lower().replace("-", "_") in _TARGETS | _REFS for name in fields)


def is_untargeted(fields: Mapping[str, object]) -> bool:
    """Whether an object is an action that types where the focus is."""
    acts = (fields.get("action"), fields.get("type"))
    return (
        any(isinstance(act, str) and act in _TYPES_AT_FOCUS for act in acts)
        and bool(value_keys(fields))
        and not has_target(fields)
    )


_TYPES_AT_FOCUS = frozenset(
    {"type", "type_text", "typewrite", "keyboard_type", "insert_text", "write"}
)
_TYPING_TOOL = re.compile(rf"(?:\b|_|(?<=[a-z])(?=[A-Z]))(?i:{_VERBS.decode()})")


def is_typing(tool: str) -> bool:
    """Whether a tool's name says that it types."""
    return len(tool) < 80 and _TYPING_TOOL.search(tool) is not None


def is_field(name: str, refs: Collection[str]) -> bool:
    """Whether a target is a field for a secret."""
    return name.removeprefix("@") in refs or is_secret_field(name)


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


_OBJECT = rb"(?i)\{[^{}]*" + NAMES + rb"[^{}]*\}"
_KEY = re.compile(
    rb"(?:\A|[{,\s(])(?:\\*[\"'])?([A-Za-z_][\w-]{0,40})(?:\\*[\"'])?\s{0,3}[:=]\s{0,3}"
)
_NUMBER = re.compile(rb"-?[\w@.-]{1,20}")


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


_MARK = re.compile(rb"(\\*)([\"'`])|\)|\(|[A-Za-z_][\w-]{0,40}\s{0,3}[:=]\s{0,3}[\w@.-]{1,20}")


def _arguments(text: bytes, begin: int, end: int) -> list[_Argument]:
    """Return the texts and named numbers up to ``end`` or to the bracket that closes a call."""
    found: list[_Argument] = []
    place, deep = begin, 0
    while place < end and len(found) < 16:
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
            found.append(_Argument(name.decode(), mark.end() - len(value), mark.end(), False))
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
                found.append(_Argument(key, *value_mark.span(2), False))
                place = value_mark.end()
                continue
            stop = closing_quote(text, value_mark.end(), value_mark[1])
            if stop > value_mark.end():
                found.append(_Argument(key, value_mark.end(), stop, True))
            place = max(stop, value_mark.end()) + len(value_mark[1])
            continue
        before = _NAME_BEFORE.search(text, max(begin, mark.start() - 48), mark.start())
        found.append(_Argument(before[1].decode() if before else "", place, close, True))
        place = close + len(mark[0])
    return found


_NAME_BEFORE = re.compile(rb"([A-Za-z_][\w-]{0,40})\s{0,3}[:=]\s{0,3}\Z")

# ---- calls

_CALL = (
    rb"(?i)(?:fill|type|send_?keys|sequentially|set_?value|set_?text|input|write|enter|insert_?text"
    rb"|paste|val|add_?value|typewrite|put|act)\w*[ \t]*\(|\.value[ \t]*=[ \t]*"
)
_BACK = 240
_RECEIVER = re.compile(rb"([\w$]{2,60})(?:\[\d+\])?\??\.\s*\Z")
_LITERAL = re.compile(rb"(\\*[\"'`])((?:(?!\1)[^\"\\\n]){1,200}?)\1")
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
    named = [it for it in arguments if it.name.lower() in _TARGETS | _REFS]
    free = [it for it in texts if it not in named]
    if named:
        hit = any(_is_field(value(it), refs) for it in named)
        yield from (Cut(it.begin, it.end) for it in free if hit)
        return
    if len(free) == 1:
        if _is_received(text, call[0]):
            yield Cut(free[0].begin, free[0].end)
        return
    if free and _is_field(value(free[0]), refs):
        yield from (Cut(it.begin, it.end) for it in free[1:])
    elif free and text[call[0] : call[1]].lower().startswith(tuple(_VALUE_FIRST)):
        if _is_field(value(free[-1]), refs):
            yield Cut(free[0].begin, free[0].end)


def _is_received(text: bytes, call: int) -> bool:
    """Whether what stands before a call with one text names a field for a secret."""
    begin = max(0, call - _BACK)
    head = text[begin:call]
    receiver = _RECEIVER.search(head)
    if receiver and is_secret_field(_spaced(receiver[1].decode())):
        return True
    last = None
    for last in _LITERAL.finditer(head):
        pass
    if last is None or head.count(b"\n", last.end()) > 2:
        return False
    return is_secret_field(last[2].decode("utf-8", "replace"))


# ---- the grammars of benchmarks

_BRACKETS = rb"(?i)\b(?:type|fill|input)[ \t]*\["
_BRACKETED = re.compile(
    rb"(?:\w+)[ \t]*\[([^\]\n]{1,80})\][ \t]*[;,]?[ \t]*(?:(?:Content|text)[:=][ ]?)?\[([^\]\n\"\\]{1,200})\]"
)
_MENTIONS = re.compile(
    rb"(?i)(pass(?:word|code|phrase)|pwd\b|\bpin\b|passwor[td])"
    rb"|user ?name|e-?mail|search|address|name field|\blogin field|\bphone"
)


def _brackets(text: bytes, refs: Collection[str]) -> Iterator[Cut]:
    for found in compiled(_BRACKETS).finditer(text):
        match = _BRACKETED.match(text, found.start())
        if match is None:
            continue
        target = match[1]
        by_words = target.isalnum() and not refs and mentions_secret(text[: found.start()])
        if _is_field(target, refs) or by_words:
            yield Cut(*match.span(2), in_brackets=True)


def mentions_secret(text: bytes) -> bool | None:
    """Whether the last field that a text mentions is for a password; None if it mentions none."""
    last = None
    for last in _MENTIONS.finditer(text, max(0, len(text) - 400)):
        pass
    return None if last is None else last[1] is not None


# ---- sentences and command lines

_VERB = rb"(?i)\b" + _VERBS
_SENTENCE = re.compile(rb"[^\n]{1,240}")
_INTO = re.compile(rb"\s*(?:\w+\s+){0,2}?(?:in|into|on|for|as|to|at)\b(?:\s+the|\s+your)?\s*")
_INSIDE = (b"<", b"#", b".", b"-", b"_", b"\\")
"""Before a word that is no verb of a sentence."""
_MARKS = (b'"', b"'", b"`")
_QUOTED = re.compile(rb"(?<![\w\\])(\\*[\"'`])((?:(?!\1)[^\"\\\n]){1,200}?)\1(?!\w)")
_LINKS = re.compile(rb"[\s,]*(?:\w+[\s,]+){0,4}")
_LEADS = re.compile(rb"[\w\s,:()-]*")
_STOP = re.compile(rb"[.;\n\"'`]")
_UNQUOTED = re.compile(
    rb"\w+\s+([^\s\"\\]{6,64})\s+(?:in|into|as|for)\s+(?:the\s+|your\s+)?([^\n.;,]{2,40})"
)
_WITH = re.compile(
    rb"\w+\s+(?:in\s+|out\s+)?(?:the\s+|your\s+)?([^\n.;,:=]{2,40}?)\s*(?:\bwith|\bto|\bas|\busing|[:=])\s+([^\s\"\\]{6,64})"
)
_COMMANDED = re.compile(
    rb"\w+[ ]+([#.\[@/]\S{1,80}|(?:e|ref)?\d{1,6}|\\*\"[^\"\\\n]{1,80}\\*\")[ ]+"
    rb"(?:\\*[\"'])?([^\s\"'\\]{2,128})"
)


def _sentences(text: bytes, refs: Collection[str]) -> Iterator[Cut]:
    for found in compiled(_VERB).finditer(text):
        before = text[found.start() - 1 : found.start()]
        word_end = text[found.end() : found.end() + 2].lstrip(b"\\")[:1]
        if before in _INSIDE or (before in _MARKS and word_end in _MARKS):
            continue
        window = _SENTENCE.match(text, found.start())
        if window is not None:
            yield from _quoted(text, found.end(), window.end(), refs)
            yield from _unquoted(text, found.start(), refs)


def _quoted(text: bytes, begin: int, end: int, refs: Collection[str]) -> Iterator[Cut]:
    """Find the quoted texts of a sentence whose field stands before or behind them."""
    literals = list(_QUOTED.finditer(text, begin, end))[:6]
    for place, literal in enumerate(literals):
        if is_secret_field(_said(literal[2])):
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
    for word in reversed(_said(text).split()):
        bare = word.strip("()[]:,!?*").lower()
        if bare in ("username", "email", "user", "search", "login", "name"):
            return False
        if name_secrecy(bare) is Secrecy.SECRET:
            return True
    return False


_MIXED = re.compile(rb"(?=\S*[0-9!@#$%^&*+=~?_-])(?=\S*[A-Za-z])\S{6,}")


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
    rb"(?i)(?:textbox|text ?field|searchbox|edit(?: ?text)?|entry|secure text|password ?text|input)\b"
    rb"[^\n\"'<>]*[\"'][^\"'\n]*" + NAMES
)
_FIELD_LINE = re.compile(
    rb"[\w ]{4,24}[^\n\"'<>]{0,60}(\\*[\"'])([^\"'\n\\]{1,120})\\*[\"']([^\n]{0,160})"
)
_VALUE_OF_FIELD = re.compile(
    rb"[^\n]{0,120}?(?:\bvalue\s?[=:]\s?|\btext\s?[=:]\s?)(?:\\*([\"'])([^\"'\\\n]{1,128})|([^\s\"'\\,\]]{1,128}))"
)
_AFTER_COLON = re.compile(
    rb"(?:\s?\[[^\]\n]{0,40}\]|\s?\([^)\n]{0,40}\)){0,6}:[ ]+\\*[\"']?([^\s\"'\\\n][^\"'\\\n]{0,127})"
)


def _observed(text: bytes) -> Iterator[Cut]:
    """Find the values of fields in accessibility trees."""
    for found in compiled(_OBSERVED).finditer(text):
        match = _FIELD_LINE.match(text, found.start())
        if match is None or not is_secret_field(_said(match[2])):
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


def _said(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def typed_values(text: bytes, refs: Collection[str] = ()) -> Iterator[Cut]:
    """Find what is typed into fields for secrets; ``refs`` are the ids of such fields."""
    if not refs and compiled(FIELD).search(text) is None:
        return
    found = {
        *_calls(text, refs),
        *_objects(text, refs),
        *_brackets(text, refs),
        *_sentences(text, refs),
        *_observed(text),
    }
    yield from (it for it in found if it.begin < it.end and not PLACEHOLDER.match(text, it.begin))


# ---- the ids of fields

_ID = re.compile(
    r"\[([\w-]{1,16})\]|\bref[=:]\s?\"?([\w-]{1,16})|\buid=([\w-]{1,16})|^\W*(\d{1,5})\[:\]"
    r"|\b(?:bid|browsergym_id|data-bid|index|element_id|node_id|mark)=\\?[\"']?([\w-]{1,16})"
    r"|^\s*@(e\d{1,5})\b"
)
_EDITABLE = re.compile(
    r"(?i)textbox|<input|text ?field|\bedit|entry|secure text|password ?text|\binput\b"
)
_STATES = frozenset({"active", "focused", "required", "disabled", "checked", "readonly", "cursor"})


def refs_given(text: str) -> frozenset[str] | None:
    """Return the ids of fields for secrets in an observation; None if it gives no ids."""
    return secret_refs(text) if _ID.search(text) is not None else None


def secret_refs(text: str) -> frozenset[str]:
    """Return the ids that an observation gives to fields for secrets."""
    found: set[str] = set()
    data = text.encode("utf-8", "surrogatepass")
    done = 0
    for match in compiled(FIELD).finditer(data):
        if match.start() < done:
            continue
        begin = max(data.rfind(b"\n", 0, match.start()) + 1, match.start() - 300)
        done = data.find(b"\n", match.start())
        done = len(data) if done < 0 else done
        line = data[begin : min(done, begin + 600)].decode("utf-8", "replace")
        if _EDITABLE.search(line) is None or _ID.search(line) is None:
            continue
        labels = _LABELS.findall(line)
        if _IS_PASSWORD.search(line) or any(is_secret_field(one or two) for one, two in labels):
            ids = {next(filter(None, groups)) for groups in _ID.findall(line)}
            found |= ids - _STATES
        if len(found) >= _MOST_REFS:
            break
    return frozenset(found)


_LABELS = re.compile(r"[\"']([^\"'\n]{1,120})[\"']|:[ ]*(\w[^\n:]{1,60})$")
_MOST_REFS = 64
