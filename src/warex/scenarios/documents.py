"""A file of YAML, TOML or JSON, read into plain data, whatever is in it.

What comes out consists of mappings with text keys, lists, text, finite or other numbers, truth
values and nothing else, at most ``MAX_DEPTH`` deep. What cannot come out so is refused with a
sentence that names the file and, for slips of syntax, the line.
"""

import json
import re
import stat
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml
from pydantic import JsonValue

from warex.errors import InputError
from warex.text.english import with_article

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 32
MAX_VALUES: Final = 50_000
"""Values in a YAML file, each alias counted as large as what it stands for."""

SUFFIXES: Final = (".yaml", ".yml", ".toml", ".json")

_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


class _Refused(Exception):
    """The text cannot be used; the message goes on from the file's name."""


def read_document(path: Path, wanted: str, error: type[InputError]) -> JsonValue:
    """Return what the file holds.

    ``wanted`` says in a sentence what the file should be ("a scenario"). Raises ``error`` where the
    file cannot be read, is larger than 1 MB, or is no well-formed document.
    """
    try:
        return _plain(_parse(_text(path, wanted), path.suffix.lower()), 1)
    except _Refused as refused:
        raise error(f"{path} {refused}") from None


def _text(path: Path, wanted: str) -> str:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise _Refused(f"is a directory; give the file of {wanted}")
        if not stat.S_ISREG(mode):
            raise _Refused(f"is not an ordinary file; give the file of {wanted}")
        if path.suffix.lower() not in SUFFIXES:
            raise _Refused(f"cannot be read as {wanted}: its name must end in {_either(SUFFIXES)}")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _Refused(f"does not exist; give the file of {wanted}") from None
    except OSError as problem:
        raise _Refused(f"cannot be read: {problem.strerror or problem}") from None
    except ValueError:
        raise _Refused("cannot be read: no file can have this name") from None
    if len(content) > MAX_BYTES:
        raise _Refused(f"is larger than {MAX_BYTES:,} bytes, which is too large for {wanted}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise _Refused(
            f"is not text in UTF-8: byte 0x{content[problem.start]:02x} at position {problem.start}"
        ) from None
    if not text.strip():
        raise _Refused(f"is empty; give the file of {wanted}")
    return text


def _parse(text: str, suffix: str) -> object:
    try:
        if suffix == ".json":
            return _json(text)
        if suffix == ".toml":
            return _toml(text)
        return _yaml(text)
    except RecursionError:
        raise _Refused(_TOO_DEEP) from None
    except ValueError as problem:
        # Python's own words, for example on a number of more than 4300 digits.
        raise _Refused(f"holds a value that cannot be read: {problem}") from None


def _plain(value: Any, depth: int) -> JsonValue:
    if depth > MAX_DEPTH:
        raise _Refused(_TOO_DEEP)
    match value:
        case dict():
            return {_unicode(key): _plain(item, depth + 1) for key, item in value.items()}
        case list():
            return [_plain(item, depth + 1) for item in value]
        case str():
            return _unicode(value)
        case None | bool() | int() | float():
            return value
        case _:
            kind = type(value).__name__
            raise _Refused(
                f"holds {with_article(kind)}, {value}; put it in quotes if it is meant as text"
            )


def _unicode(text: str) -> str:
    # An escape such as "\ud800" makes half a character, which can never be written out again.
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _Refused(f"holds text that is not Unicode: {text!a}")
    return text


def _either(options: Iterable[str]) -> str:
    *others, last = options
    return f"{', '.join(others)} or {last}"


# --- JSON ---------------------------------------------------------------------------------------

_JSON_TOKEN = re.compile(r'"(?:\\.|[^"\\])*+"?|[\[{]|[\]}]', re.DOTALL)


def _json(text: str) -> object:
    _refuse_brackets(_JSON_TOKEN.findall(text))
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise _Refused(f"is no well-formed JSON: {where}: {_lower(problem.msg)}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Refused(f"gives the key {twice!r} twice in one place; keep one of them")
    return dict(pairs)


def _refuse_brackets(tokens: Iterable[str]) -> None:
    # Counted before parsing: the parsers recurse, or take quadratic time, on deep nesting.
    depth = 0
    for token in tokens:
        if token in ("[", "{"):
            depth += 1
            if depth > MAX_DEPTH:
                raise _Refused(_TOO_DEEP)
        elif token in ("]", "}"):
            depth -= 1


# --- TOML ---------------------------------------------------------------------------------------

_TOML_TEXT = re.compile(
    r'"""(?:\\.|[^\\])*?"""|' + r"'''.*?'''|" + r'"(?:\\.|[^"\\\n])*+"|' + r"'[^'\n]*+'|#[^\n]*+",
    re.DOTALL,
)


def _toml(text: str) -> object:
    bare = _TOML_TEXT.sub("", text)
    _refuse_brackets(re.findall(r"[\[{]|[\]}]", bare))
    # A dotted key nests as deeply as it has dots.
    if any(line.count(".") > 10 * MAX_DEPTH for line in bare.splitlines()):
        raise _Refused(_TOO_DEEP)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _Refused(f"is no well-formed TOML: {_lower(str(problem))}") from None


# --- YAML ---------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """The safe loader, without tags, dates, doubled keys, and aliases that blow up."""

    # Dates stay text: a scenario has no place for one, but a name may look like one.
    yaml_implicit_resolvers = {  # noqa: RUF012 - the base class declares it so
        first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0
        self._values = 0
        self._sizes: dict[str, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            return self._alias(parent, index, event)
        if getattr(event, "tag", None) is not None:
            self._refuse(event, f"the tag {event.tag} is not allowed; leave it out")
        before = self._values
        self._count(event, 1)
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Refused(_TOO_DEEP)
        node = super().compose_node(parent, index)
        self._depth -= 1
        if event.anchor is not None:
            self._sizes[event.anchor] = self._values - before
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(key, "a key must be text, not a list or a mapping")
            if key.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"):
                self._refuse(key, f"the key {key.value} is not text; {_why_not_text(key)}")
            if key.value in seen:
                self._refuse(key, f"the key {key.value!r} stands twice in one place; keep one")
            seen.add(key.value)
        return node

    def _alias(self, parent: yaml.Node | None, index: int, event: Any) -> yaml.Node | None:
        if event.anchor in self.anchors and event.anchor not in self._sizes:
            self._refuse(event, f"the alias *{event.anchor} stands for what it stands in")
        self._count(event, self._sizes.get(event.anchor, 1))
        return super().compose_node(parent, index)

    def _count(self, event: Any, values: int) -> None:
        self._values += values
        if self._values > MAX_VALUES:
            self._refuse(
                event, f"with its aliases written out it has more than {MAX_VALUES:,} values"
            )

    def _refuse(self, at: Any, why: str) -> NoReturn:
        raise _Refused(f"cannot be used: line {at.start_mark.line + 1}: {why}")


def _why_not_text(key: yaml.ScalarNode) -> str:
    if key.tag == "tag:yaml.org,2002:bool":
        return "YAML reads on, off, yes and no as true and false: put it in quotes"
    return "put it in quotes"


def _yaml(text: str) -> object:
    try:
        document = yaml.load(text, Loader=_Loader)
    except yaml.MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        what = problem.problem or problem.context or "cannot be read"
        raise _Refused(f"is no well-formed YAML: {where}{what}") from None
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        character = f"U+{ord(text[problem.position]):04X}"
        raise _Refused(
            f"is no well-formed YAML: line {line}: the control character {character} is not allowed"
        ) from None
    if document is None:
        raise _Refused("is empty: it holds nothing but comments")
    return document


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]
