"""Optional dependencies: packages that `pip install warex` does not install."""

from typing import Literal

from warex.errors import MachineError

type Extra = Literal["demo", "frames", "ray", "train", "view"]


def require_extra(extra: Extra, purpose: str, *packages: str) -> None:
    """Raise MachineError if a package of an extra is missing; ``purpose`` starts the message."""
    from importlib.util import find_spec

    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MachineError(
            f"{purpose} needs {', '.join(missing)}, not installed here: pip install"
            f" 'warex[{extra}]'"
        )
