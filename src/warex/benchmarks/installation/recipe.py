"""Recipes of benchmarks' own environments; ``virtualenv`` makes them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from importlib import resources


@dataclass(frozen=True, slots=True)
class Install:
    """One call of pip."""

    requirements: tuple[str, ...]
    dependencies: bool = True
    """Whether to install their dependencies, too."""


@dataclass(frozen=True)
class Recipe:
    """Python versions, packages with pins, files and a check."""

    pythons: tuple[str, ...]
    """Supported versions, best first: ``3.12``."""
    installs: tuple[Install, ...]
    pins: str | None = None
    """A constraints file in this package, ``name==version`` on each line."""
    folders: tuple[str, ...] = ()
    """Empty folders to make in the benchmark's folder."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Files to write in the benchmark's folder: name -> text."""
    check: str = "print('{}')"
    """Python code, run in the new environment at the end; the JSON it prints is kept."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Set while ``check`` runs; ``{dir}`` is the benchmark's folder."""

    @cached_property
    def pins_text(self) -> str:
        """The text of the pins, or ""."""
        pins = self.pins
        return "" if pins is None else (resources.files(__package__) / pins).read_text("utf-8")

    @cached_property
    def digest(self) -> str:
        """Digest of the recipe and its pins."""
        text = json.dumps([asdict(self), self.pins_text], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
