"""A symlink tree: a view of a user's folder in which some paths are replaced.

New entries at its top are moved to the real folder at the end; changes below follow the links.
"""

import os
import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SymlinkTree:
    """A folder ``shadow`` of symlinks to the entries of ``real``."""

    shadow: Path
    real: Path
    initial_names: tuple[str, ...]
    """Names at the top at the start."""

    def merge_back(self) -> None:
        """Move new entries to the real folder."""
        try:
            entries = [entry for entry in os.scandir(self.shadow) if not entry.is_symlink()]
        except OSError:
            return
        for entry in entries:
            home = self.real / entry.name
            if entry.name not in self.initial_names and not home.exists():
                # On a full disk or without write permission the entry is lost.
                with suppress(OSError):
                    self.real.mkdir(parents=True, exist_ok=True)
                    shutil.move(entry.path, home)


def create_symlink_tree(
    real: Path,
    shadow: Path,
    ours: Collection[Path] = (),
    make: Callable[[Path, Path], None] = lambda real, shadow: None,
) -> SymlinkTree:
    """Rebuild ``real`` in ``shadow`` out of symlinks.

    For paths ``ours`` below ``real``, ``make(real path, shadow path)`` is called instead.
    """
    _plant(real, shadow, frozenset(ours), make)
    return SymlinkTree(shadow, real, tuple(os.listdir(shadow)))


def _plant(
    real: Path, shadow: Path, ours: frozenset[Path], make: Callable[[Path, Path], None]
) -> None:
    shadow.mkdir(parents=True, exist_ok=True)
    on_the_way = {parent for path in ours for parent in path.parents}
    try:
        names = os.listdir(real)
    except OSError:
        return
    for name in names:
        target, link = real / name, shadow / name
        if target in ours:
            make(target, link)
        elif target in on_the_way:
            _plant(target, link, ours, make)
        else:
            link.symlink_to(target)
