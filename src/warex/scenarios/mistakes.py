"""Mistakes in a document as sentences with the place, the value and the allowed values.

pydantic finds the mistakes; the model's JSON Schema has the allowed values.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from warex.text.english import did_you_mean

MAX_ERRORS: Final = 30
"""Mistakes listed of one document; the rest are counted."""
MAX_NAMES: Final = 20
"""Names listed in one sentence; the rest are counted."""

type Place = tuple[str | int, ...]


def validate_document[M: BaseModel](
    model: type[M], data: JsonValue, folder: Path | None = None
) -> tuple[M | None, list[str]]:
    """Return the model made of the data, or None and a sentence for every mistake.

    ``folder``, by default the working directory, is the base of relative paths in the data.
    """
    endless = {place: _with_place(place, data, words) for place, words in _endless(data, ())}
    try:
        made = model.model_validate(data, context={"folder": folder or Path()})
    except ValidationError as error:
        schema = _schema(model)
        sentences = endless | {
            place: sentence
            for details in error.errors(include_url=False)
            # A default that could not be computed follows from another mistake.
            if details["type"] != "default_factory_not_called"
            for place, sentence in [_sentence(details, data, schema)]
            if place not in endless
        }
        # Of a union's branches, the intended one reaches deeper.
        within = {place[:length] for place in sentences for length in range(len(place))}
        return None, [sentence for place, sentence in sentences.items() if place not in within]
    return (None, list(endless.values())) if endless else (made, [])


@cache
def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    return model.model_json_schema()


def format_errors(document: object, sentences: Sequence[str]) -> str:
    """Return one text with the document and all its mistakes."""
    if len(sentences) == 1:
        return f"{document}: {sentences[0]}"
    lines = [f"{document} has {len(sentences)} mistakes:"]
    lines += [f"  {sentence}" for sentence in sentences[:MAX_ERRORS]]
    if len(sentences) > MAX_ERRORS:
        lines.append(f"  and {len(sentences) - MAX_ERRORS} more")
    return "\n".join(lines)


def unknown_name(beginning: str, name: str, known: Sequence[str]) -> str:
    """Return "MESSAGE 'NAME'; did you mean '…'?", or all names if none is similar."""
    return f"{beginning} {name!r}{did_you_mean(name, known) or f'; there are: {name_list(known)}'}"


def name_list(known: Sequence[str]) -> str:
    """Return names for a sentence, of which at most ``MAX_NAMES`` are listed."""
    more = len(known) - MAX_NAMES
    shown = ", ".join(known[:MAX_NAMES])
    return f"{shown} and {more} more" if more > 0 else shown


def _endless(value: JsonValue, place: Place) -> Iterable[tuple[Place, str]]:
    if isinstance(value, float) and not math.isfinite(value):
        name = "NaN" if math.isnan(value) else "infinity"
        yield place, f"{name} is not allowed; give a finite number"
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _endless(item, (*place, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _endless(item, (*place, index))


def _sentence(details: ErrorDetails, data: JsonValue, root: Mapping[str, Any]) -> tuple[Place, str]:
    place, value, schema = _follow(details["loc"], data, root)
    kind, context = details["type"], details.get("ctx", {})
    within = place
    if kind == "missing":
        within = place[:-1]
        words = f"{place[-1]!r} is missing; give {_allowed(schema, root)}"
    elif kind in ("extra_forbidden", "unexpected_keyword_argument"):
        within, key = place[:-1], place[-1]
        keys = _keys(_follow(details["loc"][:-1], data, root)[2], root)
        hint = did_you_mean(str(key), keys)
        words = f"there is no key {_cut(repr(key))} here"
        words += hint or (f"; the keys are {', '.join(keys)}" if keys else ", nor others")
    elif kind in ("union_tag_not_found", "union_tag_invalid"):
        key, tags = schema["discriminator"]["propertyName"], schema["discriminator"]["mapping"]
        unknown = f"{key!r} is missing"
        if kind == "union_tag_invalid":
            tag = str(context["tag"])
            what = f"{place[-1]} {key}" if place else key
            unknown = f"{what} {_cut(repr(tag))} does not exist{did_you_mean(tag, tags)}"
        words = unknown if unknown.endswith("?") else f"{unknown}; there are: {', '.join(tags)}"
    elif kind == "value_error":
        words = str(context["error"])
    else:
        options = [word for word in _options(schema, root) if isinstance(word, str)]
        hint = did_you_mean(value, options) if isinstance(value, str) else ""
        allowed = _allowed(schema, root)
        words = f"{_shown(value)} is not allowed"
        words += hint or f"; give {allowed}{_quotes(value, allowed)}"
    return place, _with_place(within, data, words)


def _keys(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[str]:
    """Return the keys that a schema, or one of its branches, knows."""
    branches = [_resolved(branch, root) for branch in schema.get("anyOf", (schema,))]
    return [key for branch in branches for key in branch.get("properties", ())]


def _with_place(place: Sequence[str | int], data: JsonValue, sentence: str) -> str:
    """Put the place before the sentence; rules have index and name."""
    words = ""
    for step in place:
        data = _child(data, step)
        if isinstance(step, int):
            words += f"[{step}]"
            if isinstance(data, dict) and isinstance(name := data.get("name"), str):
                words += f" {_cut(repr(name))},"
        elif words.endswith(","):
            words += f" {_cut(step)}"
        else:
            words += f".{_cut(step)}" if words else _cut(step)
    return f"{words.removesuffix(',')}: {sentence}" if words else sentence


def _follow(
    steps: Sequence[str | int], data: JsonValue, root: Mapping[str, Any]
) -> tuple[Place, JsonValue, Mapping[str, Any]]:
    """Follow pydantic's location; return the place in the document, its value and its schema.

    The location also names branches of unions, and an index if one value stands for a list.
    """
    place: Place = ()
    schema = _resolved(root, root)
    for step in steps:
        if "discriminator" in schema:
            schema = _resolved({"$ref": schema["discriminator"]["mapping"][step]}, root)
            continue
        branches = [_resolved(branch, root) for branch in schema.get("anyOf", (schema,))]
        if _names_branch(step, branches, data):
            branch = root.get("$defs", {}).get(step)
            schema = branch if branch and isinstance(data, dict) else schema
            continue
        if isinstance(step, int):
            lists = [branch for branch in branches if branch.get("type") == "array"]
            schema = _item(lists[0], step) if lists else {}
            if not isinstance(data, list):
                schema = _resolved(schema, root)
                continue
        else:
            fields = (branch.get("properties", {}).get(step) for branch in branches)
            # A mapping with free keys has one schema for all.
            any_key = (branch.get("additionalProperties") for branch in branches)
            schema = next(filter(None, (*fields, *any_key)), {})
        schema = _resolved(schema, root)
        place, data = (*place, step), _child(data, step)
    return place, data, schema


def _names_branch(step: str | int, branches: Sequence[Mapping[str, Any]], data: JsonValue) -> bool:
    """Tell whether a step is pydantic's name for one of several branches."""
    known = {key for branch in branches for key in branch.get("properties", ())}
    fields = data if isinstance(data, dict) else {}
    return len(branches) > 1 and isinstance(step, str) and step not in known | fields.keys()


def _item(schema: Mapping[str, Any], index: int) -> Mapping[str, Any]:
    fixed = schema.get("prefixItems", ())
    item: Mapping[str, Any] = fixed[index] if index < len(fixed) else schema.get("items", {})
    return item


def _child(data: JsonValue, step: str | int) -> JsonValue:
    if isinstance(data, dict) and isinstance(step, str):
        return data.get(step)
    if isinstance(data, list) and isinstance(step, int) and step < len(data):
        return data[step]
    return None


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references, and take the other branch of a union with null."""
    while True:
        if "$ref" in schema:
            schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
            continue
        something = [branch for branch in schema.get("anyOf", ()) if branch.get("type") != "null"]
        if len(something) != 1:
            return schema
        schema = something[0]


def _options(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[JsonValue]:
    """Return the values that a schema lists one by one."""
    schema = _resolved(schema, root)
    if "const" in schema:
        return [schema["const"]]
    nested = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())]
    return [*schema.get("enum", ()), *(word for part in nested for word in _options(part, root))]


def _allowed(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Return the allowed values of a schema, in words."""
    schema = _resolved(schema, root)
    match schema:
        case {"const": value}:
            return _shown(value)
        case {"enum": values}:
            return f"one of {', '.join(map(str, values))}"
        case {"discriminator": {"propertyName": key, "mapping": tags}}:
            return f"a mapping whose {key!r} is one of {', '.join(tags)}"
        case {"anyOf": branches}:
            words = [_allowed(branch, root) for branch in branches if branch != {"type": "null"}]
            return " or ".join(dict.fromkeys(words))
        case {"type": "object", "properties": keys}:
            return f"a mapping with the keys {', '.join(keys)}"
        case {"type": "array", "prefixItems": items}:
            return f"a list of {len(items)} values, each {_allowed(items[0], root)}"
        case {"type": "array", "items": items}:
            return f"a list, each {_allowed(items, root)}"
        case {"type": "integer"}:
            return f"a whole number{_range(schema)}"
        case {"type": "number"}:
            return f"a number{_range(schema)}"
        case {"type": "string"}:
            most = f" of at most {schema['maxLength']} characters" if "maxLength" in schema else ""
            ends = ", not empty, without a space at either end" if "pattern" in schema else ""
            least = ", not empty" if "minLength" in schema and not ends else ""
            return f"text{most}{ends or least}"
        case {"type": "boolean"}:
            return "true or false"
        case _:
            return "another value"


def _range(schema: Mapping[str, Any]) -> str:
    words = {
        "minimum": "from",
        "exclusiveMinimum": "above",
        "maximum": "to",
        "exclusiveMaximum": "below",
    }
    # The field's own limit is narrower than the type's.
    limits = {**schema, "minimum": None} if "exclusiveMinimum" in schema else schema
    return "".join(
        f" {word} {limits[key]:.10g}" for key, word in words.items() if limits.get(key) is not None
    )


def _quotes(value: JsonValue, allowed: str) -> str:
    if not allowed.startswith("text"):
        return ""
    if isinstance(value, bool):
        return " (YAML reads on, off, yes and no as true and false: put it in quotes)"
    return " (put it in quotes)" if isinstance(value, int | float) else ""


def _shown(value: JsonValue) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"
