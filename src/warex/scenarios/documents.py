"""Read a file of YAML, TOML or JSON into plain data.

The result consists of mappings with text keys, lists, text, numbers, booleans and null, at most
``MAX_DEPTH`` levels deep. Any other file is refused with a sentence that names the file and, for
errors of syntax, the line.
"""

import json
import stat
import tomllib
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml
from pydantic import JsonValue

from warex.errors import InputError
from warex.text.english import listing, with_article

MAX_BYTES: Final = 1_000_000
MAX_DEPTH: Final = 32
MAX_VALUES: Final = 50_000
"""Values in a file, with YAML aliases expanded."""

SUFFIXES: Final = (".yaml", ".yml", ".toml", ".json")

_TOO_DEEP = f"is nested more than {MAX_DEPTH} levels deep"


class _Refused(Exception):
    """The file cannot be used; the message continues after the file's name."""


def read_document(path: Path, wanted: str, error: type[InputError]) -> JsonValue:
    """Return the data in the file.

    ``wanted`` names in messages what the file should be ("a scenario"). Raises ``error`` if the
    file cannot be read, exceeds a limit, or is not well-formed.
    """
    try:
        return _plain(_parse(_text(path, wanted), path.suffix.lower()))
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
            raise _Refused(
                f"cannot be read as {wanted}: its name must end in {listing(SUFFIXES, 'or')}"
            )
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
        # Python's own message, for example on a number of more than 4300 digits.
        raise _Refused(f"holds a value that cannot be read: {problem}") from None


def _plain(document: object) -> JsonValue:
    """Return a copy that consists of plain data only."""
    values = 0

    def copied(value: Any, depth: int) -> JsonValue:
        nonlocal values
        # YAML aliases share one object, which is copied at each of its places.
        values += 1
        if values > MAX_VALUES:
            raise _Refused(
                f"cannot be used: it has more than {MAX_VALUES:,} values, with aliases expanded"
            )
        if depth > MAX_DEPTH:
            raise _Refused(_TOO_DEEP)
        match value:
            case dict():
                return {_unicode(key): copied(item, depth + 1) for key, item in value.items()}
            case list():
                return [copied(item, depth + 1) for item in value]
            case str():
                return _unicode(value)
            case None | bool() | int() | float():
                return value
            case _:
                kind = type(value).__name__
                raise _Refused(
                    f"holds {with_article(kind)}, {value}; put it in quotes if it is meant as text"
                )

    return copied(document, 1)


def _unicode(text: str) -> str:
    # An escape such as "\ud800" makes a lone surrogate, which cannot be encoded.
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise _Refused(f"holds text that is not Unicode: {text!a}")
    return text


# --- JSON and TOML ------------------------------------------------------------------------------


def _json(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as problem:
        where = f"line {problem.lineno}, column {problem.colno}"
        raise _Refused(f"is not well-formed JSON: {where}: {_lower(problem.msg)}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    keys = [key for key, _ in pairs]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _Refused(f"gives the key {twice!r} twice in one place; keep one of them")
    return dict(pairs)


def _toml(text: str) -> object:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise _Refused(f"is not well-formed TOML: {_lower(str(problem))}") from None


# --- YAML ---------------------------------------------------------------------------------------


class _Loader(yaml.SafeLoader):
    """The safe loader, without tags, dates and doubled keys."""

    # Dates stay text: no key takes a date, but a name may look like one.
    yaml_implicit_resolvers = {  # noqa: RUF012 - the base class declares it so
        first: [pair for pair in pairs if pair[0] != "tag:yaml.org,2002:timestamp"]
        for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if (tag := getattr(event, "tag", None)) is not None:
            self._refuse(event, f"the tag {tag} is not allowed; leave it out")
        return super().compose_node(parent, index)

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._refuse(key, "a key must be text, not a list or a mapping")
            if key.tag not in ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"):
                self._refuse(key, f"the key {key.value} is not text; {_why_not_text(key)}")
            if key.value in seen:
                self._refuse(key, f"the key {key.value!r} occurs twice in one mapping; keep one")
            seen.add(key.value)
        return node

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
        raise _Refused(f"is not well-formed YAML: {where}{what}") from None
    except yaml.reader.ReaderError as problem:
        line = text.count("\n", 0, problem.position) + 1
        character = f"U+{ord(text[problem.position]):04X}"
        raise _Refused(
            f"is not well-formed YAML: line {line}: the control character {character} is not"
            " allowed"
        ) from None
    if document is None:
        raise _Refused("is empty: it holds nothing but comments")
    return document


def _lower(words: str) -> str:
    return words[:1].lower() + words[1:]
