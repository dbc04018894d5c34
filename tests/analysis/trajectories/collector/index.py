"""The index of the collected trials, and a separate file with how they were made."""

from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import yaml

_WRITING = Lock()


@dataclass(frozen=True, slots=True)
class Entry:
    """One trial's entry in the index, and what only the collector knows."""

    name: str
    vocabulary: Any
    """A benchmark's name, a vocabulary, or None."""
    solved: bool | None
    claim: str | None
    hidden: dict[str, Any]


def write(folder: Path, entry: Entry) -> None:
    """Append a trial to `index.yaml` and to `policies.yaml`; safe for several threads."""
    indexed = {
        "name": entry.name,
        "vocabulary": entry.vocabulary,
        "solved": entry.solved,
        "claim": entry.claim,
    }
    for file, line in (("index", indexed), ("policies", {"name": entry.name} | entry.hidden)):
        text = f"- {yaml.safe_dump(line, default_flow_style=True, width=10_000, sort_keys=False)}"
        with _WRITING, (folder / f"{file}.yaml").open("a", encoding="utf-8") as index:
            index.write(text)
