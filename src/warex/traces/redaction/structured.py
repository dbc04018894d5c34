"""Redacts URLs, JSON and command lines before they are written.

A secret is known from the environment (``environment_secrets``), or detected by its name
(``names``, ``assigned``), by the field that it is typed into (``typed``) or by its shape
(``gitleaks``, ``token_patterns``). Equal texts give equal results.
"""

import json
from collections.abc import Collection, Iterable

from msgspec import Struct, field
from pydantic import JsonValue

from warex.text.short_cache import cached_if_short
from warex.traces.redaction.effort import REPLACED as STEPS
from warex.traces.redaction.environment_secrets import process_secrets
from warex.traces.redaction.named import logins, near, options, tables
from warex.traces.redaction.names import Secrecy, is_secret, name_secrecy
from warex.traces.redaction.text import PLAIN, Pass, Seen, cut, cut_and_learn
from warex.traces.redaction.text import redact_bytes as redact_bytes
from warex.traces.redaction.token_patterns import REDACTED as REDACTED
from warex.traces.redaction.typed import actions
from warex.traces.redaction.typed import fields as typed
from warex.traces.redaction.typed.key_presses import key_presses
from warex.traces.redaction.url_paths import announces_token, simple_url

# Far above any real message and far below where parsers and pydantic give up.
_DEEPEST = 100
_TOO_DEEP = "[nested too deeply]"


def redact_text(text: str, how: Pass = PLAIN) -> str:
    """Return the text with its secrets replaced; JSON stays valid JSON."""
    data = text.encode("utf-8", "surrogatepass")
    redacted = redact_bytes(data, how)
    return text if redacted == data else redacted.decode("utf-8", "surrogatepass")


def redact_line(line: str, how: Pass = PLAIN) -> str:
    """Return a line of a trace with the secrets in its texts replaced; its own fields stay."""
    return redact_text(line, how.of_line())


def redact_url(url: str, how: Pass = PLAIN) -> str:
    """Return the URL without user name, password and values such as the one of ``key=``."""
    folder = simple_url(url)
    if folder is not None and _is_plain(folder) and not _is_known(url):
        return url
    return redact_text(url, how)


@cached_if_short(maxsize=1024)
def _is_plain(folder: str) -> bool:
    return not announces_token(folder) and redact_text(folder) == folder


def _is_known(value: str) -> bool:
    return process_secrets().in_text(value.encode("utf-8", "surrogatepass"))


class Conversation(Struct):
    """What the messages so far say about what is typed next."""

    refs: frozenset[str] = frozenset()
    """The ids that the last observation gave to fields for secrets."""
    by_agent: bool = False
    """Whether the text is the agent's own."""
    expects: bool = False
    """Whether the field that the agent named last is for a secret."""
    pressed: str = ""
    """The keys that were pressed there, one by one."""


class _Walk(Struct):
    how: Pass
    talk: Conversation = field(default_factory=Conversation)

    @property
    def refs(self) -> Collection[str]:
        """The ids and names of the fields for secrets."""
        return {*self.talk.refs, *self.how.fields} if self.how.fields else self.talk.refs

    def may_take(self, steps: int) -> bool:
        """Take steps; return whether there were any left."""
        effort = self.how.effort
        return effort is None or effort.may_take(steps)

    def end_presses(self) -> None:
        """Learn what was typed key by key."""
        if self.talk.pressed:
            self.how.learn(self.talk.pressed.encode("utf-8", "surrogatepass"), True)
            self.talk.pressed = ""


def redact_json(value: JsonValue, how: Pass = PLAIN, talk: Conversation | None = None) -> JsonValue:
    """Return a copy with the values of secret fields, and the secrets in its texts, replaced.

    In secret fields only strings and numbers are replaced: ``{"password": {"type": "string"}}`` is
    a tool's schema. The ``arguments`` of a tool call, JSON in a string, are redacted as JSON.
    Values below 100 levels are left out, since readers cannot parse them. ``talk`` is what earlier
    messages say, and is updated by these. Once an event's steps are used up, each further text is
    replaced, and each further object and array is null.
    """
    return _redact_json(value, _DEEPEST, _Walk(how.of_event(), talk or Conversation()))


def redact_call(tool: str, arguments: JsonValue, how: Pass, talk: Conversation) -> JsonValue:
    """Return the arguments of a tool's call without secrets."""
    return _redact_call(tool, arguments, _DEEPEST, _Walk(how.of_event(), talk))


def redact_image(content: bytes, how: Pass = PLAIN) -> bytes:
    """Return an image that is text, such as SVG, with its secrets replaced; others as they are."""
    try:
        return redact_text(content.decode(), how).encode()
    except UnicodeDecodeError:
        return content


def redact_arguments(arguments: Iterable[str]) -> list[str]:
    """Return a command line with the values of options such as ``--token`` replaced."""
    redacted: list[str] = []
    is_value = False
    for argument in arguments:
        is_option = argument.startswith("-")
        if is_value and not is_option:
            redacted.append(REDACTED)
            is_value = False
            continue
        name, mark, value = argument.partition("=")
        secret = name_secrecy(name) is Secrecy.SECRET
        redacted.append(f"{name}={REDACTED}" if secret and value else redact_text(argument))
        is_value = secret and is_option and not mark
    # Some programs have options of their own for a password, such as -p.
    together = json.loads(redact_text(json.dumps(redacted, ensure_ascii=False)))
    return [str(argument) for argument in together]


def redact_json_text(text: str, how: Pass = PLAIN) -> str:
    """Return JSON text with its secrets replaced; the same for any other text."""
    return _redact_json_text(text, _Walk(how.of_event()))


def _redact_json_text(text: str, walk: _Walk, tool: str = "") -> str:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return _redact_leaf(text, walk)
    if not isinstance(value, dict | list):
        return _redact_leaf(text, walk)
    redacted = _redact_call(tool, value, _DEEPEST, walk)
    return text if redacted == value else json.dumps(redacted, ensure_ascii=False)


def _redact_leaf(text: str, walk: _Walk) -> str:
    how, talk = walk.how, walk.talk
    seen = how.seen.get(text)
    if seen is None:
        # The newest message is at the end.
        mentioned = actions.mentions_secret(text[-400:].encode("utf-8", "replace"))
        seen = Seen(redact_text(text, how), typed.refs_in(text), mentioned)
        how.seen.keep(text, seen)
    cleaned, refs, mentioned = seen
    if refs is not None and not talk.by_agent:
        talk.refs = refs
    if talk.by_agent:
        cleaned = _without_presses(cleaned, walk)
        talk.expects = talk.expects if mentioned is None else mentioned
        if walk.refs:
            cleaned = _typed_by_ref(cleaned, walk)
    return cleaned


def _typed_by_ref(text: str, walk: _Walk) -> str:
    data = text.encode("utf-8", "surrogatepass")
    cleaned = cut_and_learn(data, actions.typed_values(data, walk.refs), walk.how)
    return text if cleaned == data else cleaned.decode("utf-8", "surrogatepass")


def _without_presses(text: str, walk: _Walk) -> str:
    """Return code without the keys that it presses one by one in a field for a secret."""
    if "(" not in text:
        return text
    data = text.encode("utf-8", "surrogatepass")
    spans, pressed = key_presses(data, walk.refs, focused=walk.talk.expects)
    if not spans:
        return text
    walk.how.learn(pressed, True)
    return cut(data, spans).decode("utf-8", "surrogatepass")


def _redact_press(
    value: dict[str, JsonValue], levels: int, walk: _Walk, tool: str
) -> dict[str, JsonValue] | None:
    """Redact an action that presses a key in a field for a secret; None for any other."""
    press = typed.pressed_keys(value, tool)
    if press is None:
        if "action" in value or tool:
            walk.end_presses()
        target = typed.focused(value, walk.refs) if walk.talk.by_agent else None
        if target is not None and not typed.value_keys(value):
            walk.talk.expects = target
        return None
    name, key = press
    keys = key if isinstance(key, list) else [key]
    target = typed.focused(value, walk.refs)
    if target is not None:
        walk.talk.expects = target
    if not all(isinstance(each, str) and len(each) == 1 for each in keys):
        # A key such as Tab or Enter leaves the field.
        walk.end_presses()
        walk.talk.expects = False
        return None
    if not walk.talk.expects:
        return None
    walk.talk.pressed += "".join(map(str, keys))[:64]
    for each in keys:
        walk.how.learn(str(each).encode("utf-8", "surrogatepass"), True)
    hidden: JsonValue = [REDACTED] * len(keys) if isinstance(key, list) else REDACTED
    return {
        other: hidden if other == name else _redact_field(other, item, levels, walk)
        for other, item in value.items()
    }


def _redact_json(value: JsonValue, levels: int, walk: _Walk) -> JsonValue:
    if isinstance(value, str):
        return _redact_leaf(value, walk) if walk.may_take(1) else REDACTED
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return _TOO_DEEP
    if not walk.may_take(1):
        return None
    if isinstance(value, list):
        secret = _typed_in_list(value, walk) or options.secret_values(value)
        return [
            _redact_option(item, levels - 1, walk)
            if place in secret
            else _redact_json(item, levels - 1, walk)
            for place, item in enumerate(value)
        ]
    return _redact_object(value, levels - 1, walk)


def _redact_option(value: JsonValue, levels: int, walk: _Walk) -> JsonValue:
    """Redact a value in a list, or an option and its value in one text."""
    name, mark, secret = str(value).partition("=")
    if mark and name.startswith("-"):
        return f"{name}={_redact_typed(secret, levels, walk)}"
    return _redact_typed(value, levels, walk)


def _typed_in_list(value: list[JsonValue], walk: _Walk) -> Collection[int]:
    """Return where a list such as ``["#password", "x"]`` has what is typed."""
    if not 2 <= len(value) <= 3 or not all(isinstance(item, str) for item in value):
        return ()
    target, *texts = map(str, value)
    is_selector = target.startswith(("#", ".", "[", "//", "input[", "css=", "xpath="))
    if not is_selector or not typed.is_field(target, walk.refs):
        return ()
    is_other = any(text.startswith(("#", ".", "[", "/")) for text in texts)
    return () if is_other else range(1, len(value))


def _redact_object(value: dict[str, JsonValue], levels: int, walk: _Walk) -> JsonValue:
    role = value.get("role")
    if isinstance(role, str):
        walk.talk.by_agent = role in _AGENT_ROLES
    kind = value.get("type")
    if isinstance(kind, str) and kind.endswith(_KINDS):
        walk.talk.by_agent = kind.endswith(_AGENT_KINDS)
    if (pressed := _redact_press(value, levels, walk, "")) is not None:
        return pressed
    secret = typed.typed_keys(value, walk.refs)
    if not secret and walk.talk.expects and typed.is_untargeted(value):
        secret = typed.value_keys(value)
        walk.talk.expects = False
    name = value.get("name")
    tool = name if isinstance(name, str) else ""
    columns = tables.secret_columns(value)
    return {
        key: _redact_typed(item, levels, walk)
        if key in secret
        else _redact_rows(item, columns[key], levels, walk)
        if key in columns
        else _redact_field(key, item, levels, walk, tool)
        for key, item in value.items()
    }


def _redact_rows(rows: JsonValue, secret: Collection[int], levels: int, walk: _Walk) -> JsonValue:
    """Redact the columns of secrets in a table's rows."""
    if not isinstance(rows, list) or levels < 2:
        return _TOO_DEEP
    return [
        [
            _redact_typed(item, levels - 2, walk)
            if place in secret
            else _redact_json(item, levels - 2, walk)
            for place, item in enumerate(row)
        ]
        for row in rows
        if isinstance(row, list)
    ]


_AGENT_ROLES = frozenset({"assistant", "model", "ai"})
_AGENT_KINDS = ("_call", "tool_use")
_KINDS = (*_AGENT_KINDS, "_output", "tool_result", "_response")
"""Ends of the types of messages that have no role."""


def _redact_call(tool: str, arguments: JsonValue, levels: int, walk: _Walk) -> JsonValue:
    """Redact the arguments of a tool: what it types, and what stands near a secret's name."""
    redacted = _redact_typing(tool, arguments, levels, walk)
    serialized = json.dumps(redacted, ensure_ascii=False)
    values = (
        near.strong_values(serialized) if len(serialized) <= _LARGEST_CALL else frozenset[str]()
    )
    for value in values:
        walk.how.learn(value.encode("utf-8", "surrogatepass"), True)
    return _without(redacted, values) if values else redacted


_LARGEST_CALL = 20_000
"""Characters of arguments in which values near a name are searched."""


def _without(value: JsonValue, secrets: Collection[str]) -> JsonValue:
    match value:
        case str():
            for secret in secrets:
                value = value.replace(secret, REDACTED)
            return value
        case list():
            return [_without(item, secrets) for item in value]
        case dict():
            return {name: _without(item, secrets) for name, item in value.items()}
    return value


def _redact_typing(tool: str, arguments: JsonValue, levels: int, walk: _Walk) -> JsonValue:
    """Redact the arguments of a tool, whose name may say that it types."""
    if isinstance(arguments, dict):
        pressed = _redact_press(arguments, levels - 1, walk, tool)
        if pressed is not None:
            return pressed
    if isinstance(arguments, dict) and typed.is_typing(tool):
        secret = typed.typed_keys(arguments, walk.refs)
        if not secret and walk.talk.expects and not typed.has_target(arguments):
            secret = typed.value_keys(arguments)
            walk.talk.expects = not secret
        if secret:
            return {
                key: _redact_typed(item, levels - 1, walk)
                if key in secret
                else _redact_field(key, item, levels - 1, walk)
                for key, item in arguments.items()
            }
    if isinstance(arguments, list) and typed.is_typing(tool):
        first = arguments[0] if arguments else None
        if isinstance(first, str | int) and typed.is_field(str(first), walk.refs):
            return [first, *(_redact_typed(item, levels - 1, walk) for item in arguments[1:])]
    return _redact_json(arguments, levels, walk)


def _redact_typed(value: JsonValue, levels: int, walk: _Walk) -> JsonValue:
    """Redact what is typed into a field for a secret."""
    if isinstance(value, str) and walk.may_take(STEPS):
        walk.how.learn(value.encode("utf-8", "surrogatepass"), True)
    if isinstance(value, str):
        return REDACTED if value else value
    if isinstance(value, dict) and isinstance(value.get("value"), str):
        return {**value, "value": _redact_typed(value["value"], levels, walk)}
    return _redact_credential(value, levels, walk)


def _redact_field(
    name: str, value: JsonValue, levels: int, walk: _Walk, tool: str = ""
) -> JsonValue:
    secrecy = name_secrecy(name)
    if secrecy is not Secrecy.NOTHING and is_secret(
        secrecy, value if isinstance(value, str) else ""
    ):
        if secrecy is Secrecy.OPENS and isinstance(value, str):
            if not walk.may_take(STEPS):
                return REDACTED
            return walk.how.hashed(value.encode("utf-8", "surrogatepass")).decode()
        return _redact_credential(value, levels, walk)
    if password := logins.password_of(name, value):
        walk.how.learn(password.encode("utf-8", "surrogatepass"), True)
        return _without(value, (password,))
    if name.lower() in ("cookies", "cookie") and isinstance(value, list):
        return [_redact_cookie(item, levels - 1, walk) for item in value]
    if name in ("arguments", "input", "args"):
        if isinstance(value, str) and name == "arguments":
            return _redact_json_text(value, walk, tool)
        if isinstance(value, dict | list) and levels > 0:
            return _redact_call(tool, value, levels, walk)
    return _redact_json(value, levels, walk)


def _redact_cookie(value: JsonValue, levels: int, walk: _Walk) -> JsonValue:
    if isinstance(value, dict) and isinstance(value.get("value"), str) and levels > 0:
        cleaned = _redact_object({**value, "value": ""}, levels, walk)
        hidden = _redact_credential(value["value"], levels, walk)
        return {**cleaned, "value": hidden} if isinstance(cleaned, dict) else cleaned
    return _redact_json(value, levels, walk)


def _redact_credential(value: JsonValue, levels: int, walk: _Walk) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list):
        return (
            [_redact_credential(item, levels - 1, walk) for item in value] if levels else _TOO_DEEP
        )
    if isinstance(value, dict):
        secret = value.get("value")
        if isinstance(secret, str) and secret and levels > 0:
            return {
                **_redact_rest(value, levels, walk),
                "value": _redact_typed(secret, levels, walk),
            }
        return _redact_json(value, levels, walk)
    if isinstance(value, str) and walk.may_take(STEPS):
        walk.how.learn(value.encode("utf-8", "surrogatepass"), False)
    return REDACTED


def _redact_rest(value: dict[str, JsonValue], levels: int, walk: _Walk) -> dict[str, JsonValue]:
    """Redact an object beside the value of a secret that it holds."""
    return {
        key: item if key == "value" else _redact_field(key, item, levels - 1, walk)
        for key, item in value.items()
    }
