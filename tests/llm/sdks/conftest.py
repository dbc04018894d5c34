"""The packages that the tests of this folder bring, with the programs that use them."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

FILES = Path(__file__).with_name("node")
OF_PYTHON = Path(__file__).with_name("python")
DRIVERS = sorted(path.stem for path in (OF_PYTHON / "sdks").glob("*_sdk.py"))
APART = {"litellm_sdk": "litellm"}
"""Drivers whose SDK wants other versions of the rest than the others do."""


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the packages, as their users install them, and the programs that use them."""
    folder = tmp_path_factory.mktemp("node")
    shutil.copytree(FILES, folder, dirs_exist_ok=True)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def node(packages: Path) -> str:
    """Return the Node among the packages, which is as new as they ask for."""
    (result,) = packages.glob("node_modules/node-linux-*/bin/node")
    return str(result)


@pytest.fixture(scope="session")
def pythons(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The Python that has a driver's SDK, by driver."""
    folder = tmp_path_factory.mktemp("sdks")
    uv = [sys.executable, "-m", "uv"]
    for pins in ("vendors", *APART.values()):
        made = str(folder / pins)
        venv = [*uv, "venv", "-q", "--python", sys.executable, made]
        install = [*uv, "pip", "install", "-q", "--python", f"{made}/bin/python"]
        for command in (venv, [*install, "-r", str(OF_PYTHON / "pins" / f"{pins}.txt")]):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
    return {name: f"{folder}/{APART.get(name, 'vendors')}/bin/python" for name in DRIVERS}
