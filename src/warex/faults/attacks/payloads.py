"""Texts that give an agent orders: the techniques are published, the words are ours."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final, TypedDict

from pydantic import with_config

from warex.files.reading import read_regular_file

LONGEST: Final = 4000
"""Characters of a text."""


@dataclass(frozen=True, slots=True)
class Payload:
    """One text; ``{link}`` or ``{button}`` in it stands for what it wants opened or pressed."""

    id: str
    goal: str
    """``visit`` or ``click``."""
    technique: str
    source: str
    text: str


@with_config(extra="forbid")
class TextFile(TypedDict):
    """A file that holds a text, in UTF-8."""

    file: str


def read_text(given: TextFile, folder: Path) -> str:
    """Return the text in a file, without the line break at its end.

    A relative path is relative to ``folder``. Raises ValueError where it cannot be read.
    """
    path = folder / given["file"]
    try:
        return read_regular_file(path, largest=LONGEST * 4).decode().removesuffix("\n")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:
        raise ValueError(f"{path} is no text in UTF-8") from None


@cache
def payloads() -> tuple[Payload, ...]:
    """Return the library, in its order."""
    text = (files(__package__) / "payloads.json").read_text(encoding="utf-8")
    return tuple(Payload(**one) for one in json.loads(text))
