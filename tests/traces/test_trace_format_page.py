"""The reference page names every event, field, default and allowed value that the code has."""

import json
import re
from pathlib import Path
from typing import Any, Literal, TypeAliasType, get_args, get_origin

import pytest
from pydantic import BaseModel

from warex.traces import Counted, Ending, Manifest, MissReason, Timings, Unscored, Void
from warex.traces.redact import SECRET_HEADERS

from .test_events import KINDS

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "trace-format.md").read_text()
SECTIONS = dict(
    re.findall(r"^#{2,4} `?([^`\n]+)`?\n(.*?)(?=^#{2,4} |\Z)", PAGE, re.MULTILINE | re.DOTALL)
)
TAGS = {str(kind.model_fields["event"].default): kind for kind in KINDS}
TABLES: dict[str, type[BaseModel]] = {
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


def values(alias: TypeAliasType) -> tuple[object, ...]:
    return get_args(alias.__value__)


def test_the_page_names_all_events_and_no_other() -> None:
    names = re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)

    assert names == [*TAGS, "counted", "void", "unscored"]


@pytest.mark.parametrize("section", TABLES)
def test_the_page_names_all_fields_of_an_event(section: str) -> None:
    fields = {
        name: field
        for name, field in TABLES[section].model_fields.items()
        if name not in ("event", "outcome")
    }
    table = rows(section)

    assert list(table) == list(fields)
    for name, field in fields.items():
        kind, default, means = table[name]
        assert default == ("" if field.is_required() else f"`{json.dumps(field.default)}`"), name
        for value in allowed(field.annotation):
            assert f"`{value}`" in kind, name
        assert means, name


@pytest.mark.parametrize("reason", values(MissReason))
def test_the_page_explains_every_miss(reason: str) -> None:
    assert f"| `{reason}` |" in SECTIONS["Misses"]


@pytest.mark.parametrize("ending", values(Ending))
def test_the_page_names_every_ending(ending: str) -> None:
    assert f"`{ending}`" in SECTIONS["Outcomes"]


@pytest.mark.parametrize("header", sorted(SECRET_HEADERS))
def test_the_page_names_every_secret_header(header: str) -> None:
    assert f"`{header}`" in PAGE
