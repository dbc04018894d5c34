"""Read a scenario from a file or by the name of a preset."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Final

from warex.errors import ScenarioError
from warex.scenarios.documents import SUFFIXES, read_document
from warex.scenarios.mistakes import format_errors, validate_document
from warex.scenarios.paper_config import is_paper_config, read_paper_config
from warex.scenarios.presets import preset_names, preset_path
from warex.scenarios.scenario import Scenario
from warex.text.english import did_you_mean, listing

_LONGEST_NAME: Final = 200


def load_scenario(source: str | os.PathLike[str]) -> Scenario:
    """Return the scenario of a file or a preset's name.

    A file is YAML, TOML or JSON; the paper's ``config.json`` is recognised by its keys. Raises
    ScenarioError with every mistake, its place and the allowed values.
    """
    path = Path(source)
    if (name := path.as_posix()) in preset_names():
        return load_preset(name)
    if path.suffix.lower() not in SUFFIXES and not _exists(path):
        raise ScenarioError(_no_such(name))
    return _load_file(path)


@lru_cache(maxsize=64)
def load_preset(name: str) -> Scenario:
    """Return a scenario that comes with WAREX; raises ScenarioError for an unknown name."""
    if name not in preset_names():
        raise ScenarioError(_no_such(name))
    return _load_file(preset_path(name))


def _load_file(path: Path) -> Scenario:
    data = read_document(path, "a scenario", ScenarioError)
    if not isinstance(data, dict):
        raise ScenarioError(
            f"{path} is not a scenario: it must be a mapping with the keys "
            f"{', '.join(Scenario.model_fields)}"
        )
    if is_paper_config(data):
        return read_paper_config(data, path)
    scenario, mistakes = validate_document(Scenario, data, path.parent)
    if scenario is None:
        raise ScenarioError(format_errors(path, mistakes))
    return scenario


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        # The name is too long or contains a NUL.
        return False


def _no_such(name: str) -> str:
    names = preset_names()
    shown = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"
    allowed = (
        "; give a preset (`warex scenarios` lists them) or a file that ends in"
        f" {listing(SUFFIXES, 'or')}"
    )
    return f"there is no scenario {shown!r}{did_you_mean(name, names) or allowed}"
