"""Ready scenarios that come with WAREX, each a YAML file named as its path below here."""

from functools import cache
from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent


@cache
def preset_names() -> tuple[str, ...]:
    """Return the names of all presets, such as ``paper/server-error``, in alphabetical order."""
    files = _HERE.rglob("*.yaml")
    return tuple(sorted(file.relative_to(_HERE).with_suffix("").as_posix() for file in files))


def preset_path(name: str) -> Path:
    """Return the file of a preset; ``name`` must be one of ``preset_names()``."""
    return _HERE / f"{name}.yaml"
