"""The reference page names every event, field, default and allowed value that the code has."""

import json
import re
from pathlib import Path
from typing import Any, Literal, TypeAliasType, get_args, get_origin, get_type_hints

import msgspec
import pytest
from pydantic import BaseModel

from warex.effects import EFFECTS
from warex.traces import Counted, Ending, Manifest, MissReason, Timings, Unscored, Void
from warex.traces.older import upgrade
from warex.traces.redaction.headers import SECRET_HEADERS

from .test_events import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "trace-format.md").read_text()
SECTIONS = dict(
    re.findall(r"^#{2,4} `?([^`\n]+)`?\n(.*?)(?=^#{2,4} |\Z)", PAGE, re.MULTILINE | re.DOTALL)
)
TAGS = {str(kind.__struct_config__.tag): kind for kind in KINDS}
TABLES: dict[str, type[BaseModel] | type[msgspec.Struct]] = {
    **TAGS,
    "Timings": Timings,
    "counted": Counted,
    "void": Void,
    "unscored": Unscored,
    "The manifest": Manifest,
}


def rows(section: str) -> dict[str, tuple[str, str, str]]:
    """Field → type, default and meaning of the section's table."""
    cells = r"^\| `(\w+)` \| (.*?) \| (.*?) ?\| (.*) \|$"
    return {
        name: (kind, default, means)
        for name, kind, default, means in re.findall(cells, SECTIONS[section], re.MULTILINE)
    }


def allowed(annotation: Any) -> tuple[object, ...]:
    """Return the values of a Literal, and of nothing else."""
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def fields_of(table: type[BaseModel] | type[msgspec.Struct]) -> dict[str, tuple[Any, Any]]:
    """Return each field's annotation and its default; ``...`` for none."""
    if issubclass(table, BaseModel):
        return {
            name: (field.annotation, ... if field.is_required() else field.default)
            for name, field in table.model_fields.items()
            if name != "outcome"
        }
    hints = get_type_hints(table)
    return {
        field.name: (hints[field.name], ... if field.required else _default(field))
        for field in msgspec.structs.fields(table)
    }


def _default(field: msgspec.structs.FieldInfo) -> Any:
    made = field.default_factory is not msgspec.NODEFAULT
    return field.default_factory() if made else field.default


def values(alias: TypeAliasType) -> tuple[object, ...]:
    return get_args(alias.__value__)


def test_the_page_names_all_events_and_no_other() -> None:
    names = re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)

    assert names == [*TAGS, "counted", "void", "unscored"]


@pytest.mark.parametrize("section", TABLES)
def test_the_page_names_all_fields_of_an_event(section: str) -> None:
    fields = fields_of(TABLES[section])
    table = rows(section)

    assert list(table) == list(fields)
    for name, (annotation, usual) in fields.items():
        kind, default, means = table[name]
        assert default == ("" if usual is ... else f"`{json.dumps(usual)}`"), name
        for value in allowed(annotation):
            assert f"`{value}`" in kind, name
        assert means, name


def test_the_page_explains_every_effect_and_no_other() -> None:
    assert re.findall(r"^\| `(\w+)` \|", SECTIONS["Effects"], re.MULTILINE) == list(EFFECTS)


def test_the_page_names_each_old_word_and_the_new_one() -> None:
    table = re.findall(r"\| `(\w+)` \| `(\w+)` \|$", SECTIONS["Older versions"], re.MULTILINE)

    for old, new in table:
        event: dict[str, Any]
        for event in (
            {"event": "fault_planned", "effects": [old]},
            {"event": "response", "by": old},
            {"event": "llm_retried", old: 1.0},
        ):
            before = json.dumps(event)
            upgrade(event, 2)
            if json.dumps(event) != before:
                assert json.dumps(event) == before.replace(f'"{old}"', f'"{new}"')
                break
        else:
            pytest.fail(f"{old} is not renamed")


@pytest.mark.parametrize("reason", values(MissReason))
def test_the_page_explains_every_miss(reason: str) -> None:
    assert f"| `{reason}` |" in SECTIONS["Misses"]


@pytest.mark.parametrize("ending", values(Ending))
def test_the_page_names_every_ending(ending: str) -> None:
    assert f"`{ending}`" in SECTIONS["Outcomes"]


@pytest.mark.parametrize("header", sorted(SECRET_HEADERS))
def test_the_page_names_every_secret_header(header: str) -> None:
    assert f"`{header}`" in PAGE
