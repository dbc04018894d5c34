"""Tells fields for secrets by their selector, their label, or the id that an observation gives."""

import re
from collections.abc import Collection, Mapping

from warex.text.lazy_pattern import lazy_re
from warex.text.short_cache import cached_if_short
from warex.traces.redaction import password_words
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.names import Secrecy, name_secrecy, words_of

FIELD = (
    rb"(?i)pass(?:w|code|phrase|\b|_)|passwor[td]|pwd|pw\b|psk|secret|\b(?:otp|pin|totp|mfa|cvv|cvc|ssn)\b"
    rb"|(?:api|access|auth|login|security|verification|recovery|license)[ _-]?(?:key|token|code)"
    rb"|one[ -]time|" + password_words.prefilter()
)
"""Prefilter: words in the names of fields for secrets."""
VERBS = (
    rb"(?:fill|typ(?:e|ed|ing)\b|type_|type[A-Z]|send_?keys|press_?sequentially|input|writ(?:e|ing)"
    rb"|enter|insert|paste|put|set|keyboard|val\b|add_?value|typewrite|use|provide|submit|act\b)"
)
TYPING = (
    rb"(?i)\b(?:\w+[_.])?"
    + VERBS
    + rb"|textbox|<input|secure text|Input\(|\.value[ ]?=|\"(?:text|value|keys)"
)
"""Prefilter: words of an action that types, or of an observation of a field."""

# ---- fields

_IS_PASSWORD = lazy_re(r"type\s*=\s*['\"\\]*password\b", re.IGNORECASE)
_SELECTOR = lazy_re(r"[#\[@=]|//|^\.")
_PARTS_OF_SELECTOR = lazy_re(
    r"(?:\[(?:'[^']{0,80}'|\"[^\"]{0,80}\"|[^\]'\"]){0,200}\]|[^\s/>\[]){1,300}"
)
_NAMES_IN_SELECTOR = lazy_re(
    r"[#.]([\w-]+)|['\"\\]([\w\[\] -]{1,80})['\"\\]|=\s*([\w-]+)\s*(?:\]|$)"
)
_AT = lazy_re(r"@[\w-]+")
_BY_WAY = lazy_re(r"\([^)]{0,80}\)|[*:?…]")
_ROLES = words_of(
    """
    a an area box control current edit element entry enter field fld form here in input
    inputs into label login my new of old placeholder please repeat required retype role
    secure test text textarea textbox textfield the type value wrapper your
    """
)
"""Words of a label beside the name of the field."""
_OTHERWISE = words_of(
    """
    button checkbox filter find forgot forgotten generator hide icon link manager meter
    search show strength toggle username email e-mail
    """
)
"""Words of labels of what no password is typed into."""


@cached_if_short(maxsize=4096)
def names_in(target: str) -> tuple[str, ...]:
    """Return the names in the last part of a selector, or the label itself."""
    if not _SELECTOR.search(target):
        return (target,)
    if _AT.fullmatch(target):
        return (target[1:],)
    parts = _PARTS_OF_SELECTOR.findall(target)
    named = _NAMES_IN_SELECTOR.findall(parts[-1] if parts else target)
    return tuple(name for names in named for name in names if name)


@cached_if_short(maxsize=4096)
def is_secret_field(text: str) -> bool:
    """Whether a selector or a label names a field for a secret."""
    if not text or len(text) > 300:
        return False
    if _IS_PASSWORD.search(text):
        return True
    return any(map(_is_secret_label, names_in(text)))


def _is_secret_label(text: str) -> bool:
    label = _BY_WAY.sub(" ", text)
    if not text.isascii() and len(text) <= 60 and name_secrecy(label) is Secrecy.SECRET:
        return True
    words = re.findall(r"[^\W\d_]+|\d+", spaced(label))
    if len(words) > 7 or any(word.lower() in _OTHERWISE for word in words):
        return False
    name = "_".join(word for word in words if word.lower() not in _ROLES)
    return name_secrecy(name) is Secrecy.SECRET


def spaced(text: str) -> str:
    """Return a text with its camel-case words apart."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)


# ---- objects

TARGETS = words_of(
    """
    aria_label by css description element element_description field field_label field_name
    field_type input_name into label locator on placeholder query_selector selector target
    target_element xpath where
    """
)
"""Keys of the field that a value is typed into."""
_NAMES_OF_PAIRS = frozenset({"k", "key", "name", "type", "id", "title", "attribute"})
"""Keys of a name; of several keys beside it, only ``value`` is its value."""
_VALUES = words_of(
    """
    args arguments content data input input_text keys keystrokes params string text to_type
    typed typed_text v val value values what write
    """
)
REFS = words_of(
    """
    bid element element_id elementid id index mark mark_id node_id nodeid ref target uid
    element_index encodedid
    """
)
"""Keys of the id that an observation gave to a field."""


def _spelled(keys: Collection[str]) -> frozenset[str]:
    """Return keys as objects spell them."""
    ways = {way for key in keys for way in (key, key.title(), key.upper(), key.replace("_", "-"))}
    joined = {"".join(part.title() for part in key.split("_")) for key in keys}
    return frozenset(ways | joined | {key[0].lower() + key[1:] for key in joined})


_FIELDS = _spelled(TARGETS | _NAMES_OF_PAIRS | REFS)
_VALUE_NAMES = _spelled(_VALUES)


def typed_keys(fields: Mapping[str, object], refs: Collection[str] = ()) -> frozenset[str]:
    """Return the keys of an object whose values are typed into a field for a secret."""
    if _VALUE_NAMES.isdisjoint(fields) or _FIELDS.isdisjoint(fields):
        return frozenset()
    keys = {key.lower().replace("-", "_"): key for key in fields}
    known = {key: _target(fields[name]) for key, name in keys.items()}
    known = {key: target for key, target in known.items() if target}
    values = {name for key, name in keys.items() if key in _VALUES}
    if not values:
        return frozenset()
    if any(is_field(known[key], refs) for key in TARGETS & known.keys()) or any(
        known[key].removeprefix("@") in refs for key in REFS & known.keys()
    ):
        return frozenset(values)
    if any(is_secret_field(known[key]) for key in _NAMES_OF_PAIRS & known.keys()):
        keys_of_values = frozenset(
            it for it in values if it.lower() in ("value", "values", "val", "v")
        )
        return keys_of_values or _of_pair(fields, values)
    return frozenset()


def _of_pair(fields: Mapping[str, object], values: Collection[str]) -> frozenset[str]:
    """Return the other key of an object of a name and a word; a ``text`` is rather a label."""
    words = {name: fields[name] for name in values if name.lower() in ("content", "data")}
    is_word = all(isinstance(it, str) and len(it.split()) == 1 for it in words.values())
    return frozenset(words) if len(fields) == 2 and is_word else frozenset()


def _target(value: object) -> str:
    """Return what names a field: a text, a number, or the one such text in an object."""
    if isinstance(value, dict):
        texts = [item for item in value.values() if isinstance(item, str)]
        return next(filter(is_secret_field, texts), "")
    return str(value) if _is_plain(value) else ""


def value_keys(fields: Mapping[str, object]) -> frozenset[str]:
    """Return the keys of an object that may hold what is typed."""
    return frozenset(
        name for name in fields if name.lower() in ("text", "value", "keys", "content")
    )


def has_target(fields: Mapping[str, object]) -> bool:
    """Whether an object names the field that it types into."""
    return any(name.lower().replace("-", "_") in TARGETS | REFS for name in fields)


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
_TYPING_TOOL = lazy_re(rf"(?:\b|_|(?<=[a-z])(?=[A-Z]))(?i:{VERBS.decode()})")


def is_typing(tool: str) -> bool:
    """Whether a tool's name says that it types."""
    return len(tool) < 80 and _TYPING_TOOL.search(tool) is not None


def is_field(name: str, refs: Collection[str]) -> bool:
    """Whether a target is a field for a secret; ``refs`` are ids and names of such fields."""
    if name.removeprefix("@") in refs or is_secret_field(name):
        return True
    return bool(refs) and len(name) <= 300 and not refs_disjoint(name, refs)


def refs_disjoint(target: str, refs: Collection[str]) -> bool:
    """Whether a selector has none of these names."""
    return all(name not in refs for name in names_in(target))


# ---- presses of keys

_PRESSES = frozenset({"key", "keypress", "press", "press_key", "key_press", "keyboard_press"})
_PRESSING_TOOL = lazy_re(r"(?i)press|key(?:board)?(?:_|\b|$)")
_PRESSED = frozenset({"key", "keys", "text", "value"})


def pressed_keys(fields: Mapping[str, object], tool: str = "") -> tuple[str, object] | None:
    """Return the name and the value of the key in an action that presses one; None if none."""
    acts = {fields.get("action"), fields.get("type")} if _hashable(fields) else set()
    if _PRESSES.isdisjoint(acts) and not (tool and _PRESSING_TOOL.search(tool)):
        return None
    named = [(name, value) for name, value in fields.items() if name.lower() in _PRESSED]
    return named[0] if len(named) == 1 else None


def _hashable(fields: Mapping[str, object]) -> bool:
    return all(isinstance(fields.get(name), str | None) for name in ("action", "type"))


_OF_MESSAGES = frozenset({"arguments", "content", "function", "input", "role", "tool_calls"})
"""Keys of a message or of a call around an action, whose ``id`` names no field."""


def focused(fields: Mapping[str, object], refs: Collection[str]) -> bool | None:
    """Whether an action goes to a field for a secret; None if it names no target."""
    if not _OF_MESSAGES.isdisjoint(fields):
        return None
    keys = {key.lower().replace("-", "_"): value for key, value in fields.items()}
    targets = [
        str(value) for key, value in keys.items() if key in TARGETS | REFS and _is_plain(value)
    ]
    return any(is_field(target, refs) for target in targets) if targets else None


def _is_plain(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


# ---- the ids of fields

_ID_PATTERN = (
    r"\[([\w-]{1,16})\]|\bref[=:]\s?\"?([\w-]{1,16})|\buid=([\w-]{1,16})|^\W*(\d{1,5})\[:\]"
    r"|\b(?:bid|browsergym_id|data-bid|index|element_id|node_id|mark)=\\?[\"']?([\w-]{1,16})"
    r"|^\s*@(e\d{1,5})\b"
)
_ID = lazy_re(_ID_PATTERN)
_AN_ID = _ID_PATTERN.replace("([", "(?:[").replace(r"(\d", r"(?:\d").replace("(e", "(?:e").encode()
"""Without groups, for RE2: Python's search of a page takes ten times as long."""
_EDITABLE = lazy_re(
    r"(?i)textbox|<input|text ?field|\bedit|entry|secure text|password ?text|\binput\b"
)
_STATES = frozenset({"active", "focused", "required", "disabled", "checked", "readonly", "cursor"})


def refs_in(text: str) -> frozenset[str] | None:
    """Return the ids of fields for secrets in an observation; None if it gives no ids."""
    data = text.encode("utf-8", "surrogatepass")
    return secret_refs(text) if compiled(_AN_ID).search(data) is not None else None


def secret_refs(text: str) -> frozenset[str]:
    """Return the ids that an observation gives to fields for secrets."""
    refs: set[str] = set()
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
            refs |= ids - _STATES
        if len(refs) >= _MOST_REFS:
            break
    return frozenset(refs)


_LABELS = lazy_re(r"[\"']([^\"'\n]{1,120})[\"']|:[ ]*(\w[^\n:]{1,60})$")
_MOST_REFS = 64
