"""Playbooks: rules by which WAREX plays an agent's model.

A playbook is checked before anything runs, and served by one program for each trial.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, JsonValue, field_validator, model_validator

from warex.benchmarks.child_process import require_alive, start_child
from warex.benchmarks.scoring.expectations import Pattern
from warex.benchmarks.table import Text
from warex.errors import CampaignError
from warex.scenarios.documents import read_document
from warex.scenarios.mistakes import format_errors, validate_document
from warex.trials.scripted_model import MODULE

PLAYBOOK_PREFIX = "playbook:"
"""Prefix of models that are played by a playbook; the rest is its path."""


class PlaybookToolCall(BaseModel, frozen=True, extra="forbid"):
    """The model calls a tool."""

    tool: Text
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class Structured(BaseModel, frozen=True, extra="forbid"):
    """The model answers with JSON, as asked by ``response_format``."""

    structured: JsonValue = Field(alias="json", serialization_alias="json")


type Answer = str | PlaybookToolCall | Structured


class PlaybookRule(BaseModel, frozen=True, extra="forbid"):
    """One rule: when it matches, the model gives these answers."""

    when: tuple[Pattern, ...] = Field(default=(), description="Regexes, all found in the request.")
    last: tuple[Pattern, ...] = Field(default=(), description="All found in its last message.")
    unless: tuple[Pattern, ...] = Field(default=(), description="None found in the request.")
    say: tuple[Answer, ...] = Field(min_length=1, description="One after the other, then the last.")

    @field_validator("when", "last", "unless", "say", mode="before")
    @classmethod
    def _one_or_many(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str | dict) else value

    @model_validator(mode="before")
    @classmethod
    def _is_a_table(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError("a rule is a table with the keys when, last, unless, say")
        return value


class Playbook(BaseModel, frozen=True, extra="forbid"):
    """The rules of an embedded model; the first that matches answers."""

    rules: tuple[PlaybookRule, ...] = Field(min_length=1)


def load_playbook(path: Path) -> Playbook:
    """Return a playbook from its file (YAML, TOML or JSON).

    Raises CampaignError with every mistake, naming the file and the place.
    """
    data = read_document(path, "a playbook", CampaignError)
    playbook, mistakes = validate_document(Playbook, data)
    if playbook is None:
        raise CampaignError(format_errors(path, mistakes))
    return playbook


@contextmanager
def serve_playbook(playbook: Playbook, scratch: Path) -> Iterator[int]:
    """Serve a playbook for one trial; yield its port.

    Raises TrialVoid if the program does not start, ProcessDied if it is killed.
    """
    file = scratch / "playbook.json"
    file.write_text(json.dumps(playbook.model_dump(mode="json", by_alias=True)), "utf-8")
    arguments = ("--playbook", str(file))
    with start_child(MODULE, *arguments) as (process, ready), require_alive(process, MODULE):
        yield int(ready["port"])
