"""Texts that give an agent orders: the techniques are published, the words are ours."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Payload:
    """One text; ``{link}`` or ``{button}`` in it stands for what it wants opened or pressed."""

    id: str
    goal: str
    """``visit`` or ``click``."""
    technique: str
    source: str
    text: str


@cache
def payloads() -> tuple[Payload, ...]:
    """Return the library, in its order."""
    text = (files(__package__) / "payloads.json").read_text(encoding="utf-8")
    return tuple(Payload(**one) for one in json.loads(text))
