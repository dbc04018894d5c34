"""What a benchmark's own environment is made of. Data; ``environments`` makes it."""

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
    """Whether what they require is installed, too; False where their own pins lead astray."""


@dataclass(frozen=True)
class Recipe:
    """Pins that resolve together and run, so that nobody has to find them again."""

    pythons: tuple[str, ...]
    """Versions that it runs on, best first: ``3.12``."""
    installs: tuple[Install, ...]
    pins: str | None = None
    """A file beside the adapters, one ``name==version`` a line, for all that pip brings along."""
    folders: tuple[str, ...] = ()
    """Made, empty, in the benchmark's folder."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Written into the benchmark's folder: name and text."""
    check: str = "print('{}')"
    """Python code, run by the new environment at the end; the JSON it prints is kept."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Set while ``check`` runs; ``{dir}`` stands for the benchmark's folder."""

    @cached_property
    def pins_text(self) -> str:
        """The pins' text; empty where there are none."""
        if self.pins is None:
            return ""
        return (resources.files(__package__) / self.pins).read_text("utf-8")

    @cached_property
    def digest(self) -> str:
        """Changes with anything in the recipe."""
        text = json.dumps([asdict(self), self.pins_text], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]
