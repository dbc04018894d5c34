"""Redacts one trial: what was found once by its name is secret wherever it stands.

A value is learned where a name, a field or a command makes it secret, and replaced in every
spelling, before and after. Learned values are few and bounded: hostile pages can name any number of
values, and a common one would take much of the trace.
"""

import hashlib
import hmac
import json
import os
import re
from contextlib import suppress
from urllib.parse import parse_qsl, quote_plus, unquote_to_bytes

from msgspec.structs import replace
from pydantic import JsonValue

from warex.text.lazy_pattern import lazy_re
from warex.text.short_cache import cached_if_short
from warex.traces.redaction.assigned import PLACEHOLDER, is_ordinary
from warex.traces.redaction.effort import BODY, Effort
from warex.traces.redaction.environment_secrets import KnownSecrets
from warex.traces.redaction.gitleaks import compiled
from warex.traces.redaction.headers import redact_header
from warex.traces.redaction.structured import (
    REDACTED,
    Conversation,
    redact_bytes,
    redact_call,
    redact_image,
    redact_json,
    redact_json_text,
    redact_text,
    redact_url,
)
from warex.traces.redaction.text import Pass, SeenTexts
from warex.traces.redaction.typed.fields import FIELD, is_secret_field
from warex.traces.redaction.typed.page_fields import password_fields

_LARGEST_FORM = 256 * 1024
_MOST_FIELDS = 1000
_DEEPEST_FORM = 20
_MOST_PAGE_FIELDS = 64
_PART = lazy_re(
    rb'(?i)\bname="([^"\r\n]{1,80})"\r?\n(?:[\w-]+:[^\r\n]*\r?\n)*\r?\n([^\r\n]{1,256})'
)
_IS_OF_REQUEST = lazy_re(r"(?i)csrf|xsrf|token|nonce|captcha|state|signature")
"""Names of values that differ in each request; they are known by their name or shape."""
_IS_TEXT = lazy_re(r"^text/|[/+](?:json|xml|javascript|ecmascript|x-www-form-urlencoded)$")
_FORM_FIELD = lazy_re(rb"([^&=]+)=([^&]*)")
_MOST_TYPED = 96
_MOST_NAMED = 160
"""Values of each kind that are learned; the first ones stay."""
_LEAST_TYPED = 6
"""Characters of a value that is typed into a field for a secret. A shorter one, such as "test",
"admin" or "1234", is replaced only in its place: it also occurs in other words and numbers."""
_LEAST_NAMED = 8
"""Characters of a value with a secret's name; pages and programs give such names to much."""
_MOST = 256
_OF_PROTOCOLS = frozenset(
    b"""arguments assistant children completion content description document developer element
    exchange function functions location message messages navigate object parameters password
    properties required response results selector submit system textbox tool_call tool_calls
    tool_use username content-type text/html application text/plain image_url standard_user
    localhost warex events request requests standard premium default customer customers""".split()
)
"""Words of the formats that traces hold, and names of users, which no secret may take out."""
_SECOND_KIND = lazy_re(rb"[^A-Za-z]")
_STRONG = lazy_re(rb"(?=.*[0-9])(?=.*[A-Za-z])|(?=.*[a-z])(?=.*[A-Z])(?=.*[^A-Za-z])", re.DOTALL)
_DIGITS = lazy_re(rb"[0-9]+")


class LearnedSecrets:
    """The secrets that a trial has shown."""

    def __init__(self) -> None:
        self._typed: dict[bytes, None] = {}
        self._named: dict[bytes, None] = {}
        self._known = KnownSecrets(in_json=True)
        self._is_new = False
        self.is_empty = True

    def add(self, value: bytes, typed: bool) -> None:
        """Learn a value; ``typed``: an agent or a form gives it to a field for a secret."""
        value = _plain(value)
        if value in self._typed or value in self._named or not _may_be_learned(value, typed):
            return
        learned, most = (self._typed, _MOST_TYPED) if typed else (self._named, _MOST_NAMED)
        if len(learned) < most:
            learned[value] = None
            self.is_empty = False
            self._is_new = True

    def values(self) -> list[str]:
        """Return all of them, for what another process writes of the trial."""
        return [value.decode("utf-8", "replace") for value in (*self._typed, *self._named)]

    def in_text(self, text: bytes) -> bool:
        """Whether any of them is in a text."""
        if self._is_new:
            self._is_new = False
            self._known.add(self.values())
        return self._known.in_text(text)

    def replaced(self, text: str) -> str:
        """Return JSON, or a part of it, with each of them replaced, in all spellings."""
        data = text.encode("utf-8", "surrogatepass")
        cleaned = self.without(data)
        return text if cleaned == data else cleaned.decode("utf-8", "surrogatepass")

    def without(self, data: bytes) -> bytes:
        """Return the bytes of a text with each of them replaced."""
        if not self or not self.in_text(data):
            return data
        cleaned = self._known.replaced(data, REDACTED.encode(), in_words=False)
        # An action such as ``type [12] [x] [1]`` stays one.
        return cleaned.replace(b"[[redacted]]", b"[redacted]")


def _plain(value: bytes) -> bytes:
    """Return a value without the escapes of the JSON or the URL that it stood in."""
    for _ in range(3):
        if b"\\" not in value:
            break
        try:
            plain = json.loads(b'"' + value + b'"')
        except ValueError:
            break
        value = plain.encode("utf-8", "surrogatepass")
    if re.search(rb"%[0-9A-Fa-f]{2}", value):
        value = unquote_to_bytes(value)
    return value.strip()


def _may_be_learned(value: bytes, typed: bool) -> bool:
    lower = value.lower()
    if not (_LEAST_TYPED if typed else _LEAST_NAMED) <= len(value) <= _MOST:
        return False
    if lower in _OF_PROTOCOLS or is_ordinary(value) or PLACEHOLDER.match(value):
        return False
    if b"://" in value or value.startswith((b"/", b"./")) or b"redacted" in value:
        return False
    if _DIGITS.fullmatch(value):
        return typed and len(value) >= 8
    if typed:
        return len(value) >= 8 or _SECOND_KIND.search(value) is not None
    return _STRONG.match(value) is not None and len(set(value)) >= 5


class Redactor:
    """Redacts what one trial writes."""

    def __init__(self, key: bytes = b"") -> None:
        """``key``: of the hashes; without one, they are comparable in this trial only."""
        self.learned = LearnedSecrets()
        self.talk = Conversation()
        self.tools = Conversation()
        self._key = key or os.urandom(16)
        self._typed: dict[bytes, None] = {}
        self._fields: dict[str, None] = {}
        self.effort = Effort()
        """The steps that are left for the event that is redacted."""
        self.how = Pass(
            learn=self._learn,
            hashed=self._hashed,
            fields=self._fields.keys(),
            effort=self.effort,
        )
        self._anew = replace(self.how, seen=SeenTexts())
        self._line = self.how.of_line()
        self._of_body = replace(self.how, learn=lambda value, typed: None)
        # Its own cache: one that trials share would keep each of them in memory.
        self._url = cached_if_short(maxsize=1024)(self._redacted_url)

    def _learn(self, value: bytes, typed: bool) -> None:
        if typed:
            self._typed[value] = None
            if len(self._typed) > _MOST_TYPED:
                del self._typed[next(iter(self._typed))]
        self.learned.add(value, typed)

    def learn_page(self, page: bytes) -> None:
        """Learn the names of the fields for passwords in a page's HTML."""
        for name in sorted(password_fields(page)):
            if len(self._fields) < _MOST_PAGE_FIELDS:
                self._fields[name] = None

    def learn_form(self, content_type: str, body: bytes) -> None:
        """Learn the passwords in the body of a request; the body itself is in no trace."""
        if not 0 < len(body) <= _LARGEST_FORM or not self._may_have_secret(body):
            return
        self.effort.renew(BODY)
        kind = content_type.partition(";")[0].strip().lower()
        if kind == "application/x-www-form-urlencoded":
            first = b"&".join(body.split(b"&", _MOST_FIELDS)[:_MOST_FIELDS])
            for name, value in parse_qsl(first.decode("utf-8", "replace")):
                self._learn_field(name, value)
        elif kind.endswith("json"):
            with suppress(ValueError, RecursionError):
                self._learn_json(json.loads(body), _DEEPEST_FORM)
        elif kind.startswith("multipart/") or kind.endswith("xml"):
            redact_bytes(body, self.how)
            self._learn_parts(body)

    def _may_have_secret(self, body: bytes) -> bool:
        return compiled(FIELD).search(body) is not None or any(
            quote_plus(name).encode() in body or name.encode() in body for name in self._fields
        )

    def _learn_parts(self, body: bytes) -> None:
        """Learn the values of a multipart form's fields with a name that only the page tells."""
        for part in _PART.finditer(body):
            name, value = part[1].decode("utf-8", "replace"), part[2].decode("utf-8", "replace")
            if name in self._fields:
                self._learn_field(name, value)

    def _learn_json(self, value: JsonValue, levels: int) -> None:
        if levels == 0 or not isinstance(value, dict | list):
            return
        pairs = value.items() if isinstance(value, dict) else (("", item) for item in value)
        for name, item in pairs:
            if isinstance(item, str):
                self._learn_field(name, item)
            else:
                self._learn_json(item, levels - 1)

    def _learn_field(self, name: str, value: str) -> None:
        is_secret = is_secret_field(name) and _IS_OF_REQUEST.search(name) is None
        if name and (is_secret or name in self._fields):
            self._learn(value.encode("utf-8", "surrogatepass"), True)

    def _hashed(self, value: bytes) -> bytes:
        """Return a placeholder that equal values under this key share."""
        if PLACEHOLDER.match(value):
            return value
        digest = hmac.new(self._key, value, hashlib.sha256).hexdigest()[:8]
        return f"[redacted:{len(value)}:{digest}]".encode()

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return redact_text(text, self.how)

    def url(self, url: str) -> str:
        """Return a URL, or any short text, without secrets."""
        return self._url(url)

    def _redacted_url(self, url: str) -> str:
        return redact_url(url, self.how)

    def header(self, name: str, value: str) -> tuple[str, str]:
        """Return a header without secrets."""
        return redact_header(name, value, self.how)

    def line(self, line: str) -> str:
        """Return a part of a line of a trace without secrets."""
        return redact_text(line, self._line)

    def json(self, value: JsonValue) -> JsonValue:
        """Return JSON without secrets."""
        return redact_json(value, self.how)

    def json_text(self, text: str) -> str:
        """Return JSON text, or any other, without secrets."""
        return redact_json_text(text, self.how)

    def messages(self, value: JsonValue) -> JsonValue:
        """Return the messages of a new conversation without secrets."""
        self.talk = Conversation()
        return redact_json(value, self.how, self.talk)

    def answer(self, value: JsonValue) -> JsonValue:
        """Return what an agent answers in the conversation without secrets."""
        self.talk.by_agent = True
        self._typed.clear()
        # What was seen before is not learned again.
        self._anew.seen.clear()
        return redact_json(value, self._anew, self.talk)

    def tool(self, name: str, part: str, value: JsonValue) -> JsonValue:
        """Return the arguments or the result of a tool's call without secrets."""
        self.tools.by_agent = part == "arguments"
        if part == "arguments":
            return redact_call(name, value, self.how, self.tools)
        return redact_json(value, self.how, self.tools)

    def arguments(self, value: JsonValue) -> JsonValue:
        """Return the arguments of an action that an answer has, without what it types."""
        match value:
            case str():
                typed = value.encode("utf-8", "surrogatepass") in self._typed
                return REDACTED if typed and value else value
            case list():
                return [self.arguments(item) for item in value]
            case dict():
                return {name: self.arguments(item) for name, item in value.items()}
        return value

    def body(self, content: bytes, content_type: str) -> bytes:
        """Return a message's body without secrets; binary data stays as it is.

        Nothing is learned: programs and pages give secret names to much that is not secret.
        """
        self.effort.renew(BODY)
        kind = content_type.partition(";")[0].strip().lower()
        try:
            content.decode()
        except UnicodeDecodeError:
            if not _IS_TEXT.search(kind):
                return content
        if kind == "application/x-www-form-urlencoded":
            first = b"&".join(content.split(b"&", _MOST_FIELDS)[:_MOST_FIELDS])
            content = _FORM_FIELD.sub(self._form_field, first) + _FORM_FIELD.sub(
                rb"\1=" + REDACTED.encode(), content[len(first) :]
            )
        return self.learned.without(redact_bytes(content, self._of_body))

    def _form_field(self, field: re.Match[bytes]) -> bytes:
        name = unquote_to_bytes(field[1].replace(b"+", b" ")).decode("utf-8", "replace")
        is_secret = is_secret_field(name) or name in self._fields
        return field[1] + b"=" + (REDACTED.encode() if is_secret and field[2] else field[2])

    def image(self, content: bytes) -> bytes:
        """Return an image, which may be text, without secrets."""
        self.effort.renew()
        return redact_image(content, self.how)

    def is_secret_answer(self, answer: str, tool_calls: list[JsonValue]) -> bool:
        """Whether a model's answer has a secret."""
        self.effort.renew()
        serialized = json.dumps([answer, tool_calls], ensure_ascii=False)
        known = self.learned.in_text(serialized.encode("utf-8", "surrogatepass"))
        return known or self.answer(answer) != answer or self.answer(tool_calls) != tool_calls
