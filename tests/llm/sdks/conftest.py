"""The packages for Node that the tests of this folder bring, with the programs that use them."""

import shutil
import subprocess
from pathlib import Path

import pytest

FILES = Path(__file__).with_name("node")


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
    (found,) = packages.glob("node_modules/node-linux-*/bin/node")
    return str(found)
