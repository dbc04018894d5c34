"""Texts that instruct an agent, by published techniques and in our own words."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, TypedDict

from pydantic import with_config

from warex.files.reading import read_regular_file

LONGEST: Final = 4000
"""Maximum characters of a text."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One text; it names its goal by ``{link}`` or ``{button}``."""

    id: str
    goal: str
    """``visit`` or ``click``."""
    technique: str
    source: str
    text: str


@with_config(extra="forbid")
class TextFile(TypedDict):
    """A text file in UTF-8."""

    file: str


def read_text(reference: TextFile, folder: Path) -> str:
    """Return a file's text without the final line break.

    A relative path is relative to ``folder``. Raises ValueError if the file cannot be read.
    """
    path = folder / reference["file"]
    try:
        return read_regular_file(path, largest=LONGEST * 4).decode().removesuffix("\n")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise ValueError(f"{path} is not text in UTF-8") from None


@cache
def payloads() -> tuple[Payload, ...]:
    """Return the texts of the library, in order."""
    text = (files(__package__) / "payloads.json").read_text(encoding="utf-8")
    return tuple(Payload(**one) for one in json.loads(text))
