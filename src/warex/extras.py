"""What is installed: its documentation, and how to install what is missing."""

import json
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Final, Literal

from warex.errors import MachineError

type Extra = Literal[
    "demo", "frames", "inspect", "otel", "pandas", "ranker", "ray", "train", "verifiers", "view"
]

_PAGE: Final = "docs/{page}.md"
"""A page of the documentation in a checkout; the build of a wheel puts its address here
(scripts/distributions.py)."""
_TESTBED: Final = "warex-testbed"
_NEEDS_TESTBED: Final = "demo"


def require_extra(extra: Extra, purpose: str, *packages: str) -> None:
    """Raise MachineError if a package of an extra is missing; ``purpose`` starts the message."""
    from importlib.util import find_spec

    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise MachineError(
            f"{purpose} needs {', '.join(missing)}, not installed here: {install_command(extra)}"
        )


def documentation(page: str) -> str:
    """Return where a page of the documentation is, as ``how-to/exec#a-heading``.

    It is an address in a released wheel, and a path in a checkout.
    """
    name, mark, heading = page.partition("#")
    return f"{_PAGE.format(page=name)}{mark}{heading}"


def install_command(extra: Extra) -> str:
    """Return the command line that adds an extra of WAREX to this environment.

    It takes WAREX from where it came from: an index, a folder of wheels, a checkout, a repository.
    """
    return shlex.join((*_installer(), *_requirements(extra, _origin())))


def install_package(name: str) -> str:
    """Return the command line that adds another package to this environment."""
    return shlex.join((*_installer(), name))


def _installer() -> tuple[str, ...]:
    from importlib.util import find_spec

    if find_spec("pip") is None:
        return "uv", "pip", "install", "--python", sys.executable
    pip = shutil.which("pip")
    if pip and os.path.dirname(pip) == os.path.dirname(sys.executable):
        return "pip", "install"
    return sys.executable, "-m", "pip", "install"


def _origin() -> dict[str, object]:
    """Return what the installer recorded (PEP 610); nothing if WAREX came from an index."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        recorded = distribution("warex").read_text("direct_url.json")
        origin = json.loads(recorded or "{}")
    except (PackageNotFoundError, ValueError):
        return {}
    return origin if isinstance(origin, dict) and isinstance(origin.get("url"), str) else {}


def _requirements(extra: Extra, origin: dict[str, object]) -> tuple[str, ...]:
    name, url = f"warex[{extra}]", str(origin.get("url", ""))
    with_testbed = extra == _NEEDS_TESTBED
    match origin:
        case {"dir_info": dict(folder)}:
            path = _local_path(url)
            editable = ("-e",) if folder.get("editable") else ()
            constraints = path / "constraints.txt"
            pins = ("-c", str(constraints)) if constraints.is_file() else ()
            testbed = (*editable, str(path / "testbed")) if with_testbed else ()
            return *pins, *testbed, *editable, f"{path}[{extra}]"
        case {"vcs_info": {"vcs": str(vcs), "commit_id": str(commit)}}:
            address = f"{vcs}+{url}@{commit}"
            testbed = (f"{_TESTBED} @ {address}#subdirectory=testbed",) if with_testbed else ()
            return *testbed, f"{name} @ {address}"
        case {"archive_info": dict()} if url.startswith("file:"):
            return "--find-links", str(_local_path(url).parent), name
        case {"archive_info": dict()}:
            return (f"{name} @ {url}",)
        case _:
            return (name,)


def _local_path(url: str) -> Path:
    from urllib.parse import unquote, urlsplit

    return Path(unquote(urlsplit(url).path))
