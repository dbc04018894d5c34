"""What is installed: the version, and packages that `pip install warex` does not install."""

from typing import Literal

from warex.errors import MachineError

type Extra = Literal["demo", "frames", "ranker", "ray", "train", "view"]

VERSION = "0.1.0"
"""Of WAREX; the package's metadata has it from here.

Asking the metadata for it loads a parser of e-mail, which takes longer than any part of a lane.
"""


def require_extra(extra: Extra, purpose: str, *packages: str) -> None:
    """Raise MachineError if a package of an extra is missing; ``purpose`` starts the message."""
    from importlib.util import find_spec

    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MachineError(
            f"{purpose} needs {', '.join(missing)}, not installed here: pip install"
            f" 'warex[{extra}]'"
        )
