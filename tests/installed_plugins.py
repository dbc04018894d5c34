"""Distributions that add something to WAREX, as an installer leaves them, for one test."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warex import plugins
from warex.faults import catalogue
from warex.lane.hosts.own_hosts import fault_sites
from warex.llm import families


@contextmanager
def installed(folder: Path, group: str, entry_points: str, **modules: str) -> Iterator[None]:
    """Have a distribution ``warex-other 1.0`` with entry points and modules on the path."""
    metadata = folder / "warex_other-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: warex-other\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{entry_points}\n")
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    sys.path.insert(0, str(folder))
    _forget()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in modules:
            sys.modules.pop(name, None)
        _forget()


def _forget() -> None:
    importlib.invalidate_caches()
    for cached in (
        plugins._entry_points,
        plugins._load,
        plugins._warn,
        catalogue,
        fault_sites,
        families._installed,
    ):
        cached.cache_clear()
