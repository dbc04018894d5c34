"""A folder of the user's seen through links, with a few places of ours in it.

What the command makes anew at its top is brought home at the end; what it changes below is changed
where it is, since a link leads there.
"""

import os
import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SymlinkTree:
    """A folder of links."""

    shadow: Path
    real: Path
    initial_names: tuple[str, ...]
    """Names at the top that are ours, or were the user's at the start."""

    def merge_back(self) -> None:
        """Move what is new to the folder that it was meant for."""
        try:
            entries = [entry for entry in os.scandir(self.shadow) if not entry.is_symlink()]
        except OSError:
            return
        for entry in entries:
            home = self.real / entry.name
            if entry.name not in self.initial_names and not home.exists():
                # A full disk or a folder that may not be written: it is lost, as it says there.
                with suppress(OSError):
                    self.real.mkdir(parents=True, exist_ok=True)
                    shutil.move(entry.path, home)


def create_symlink_tree(
    real: Path,
    shadow: Path,
    ours: Collection[Path] = (),
    make: Callable[[Path, Path], None] = lambda real, shadow: None,
) -> SymlinkTree:
    """Rebuild ``real`` in ``shadow`` out of links.

    ``ours`` are paths below ``real`` that are no links but what ``make`` makes of them, given the
    path there and the one here.
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
        there, here = real / name, shadow / name
        if there in ours:
            make(there, here)
        elif there in on_the_way:
            _plant(there, here, ours, make)
        else:
            here.symlink_to(there)
