"""A site, a certificate authority of these tests, and environments with trainers' packages."""

import os
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.proxy.support.origin import Origin, served


@pytest.fixture(scope="module", autouse=True)
def _own_ca(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WAREX_CA_DIR", str(tmp_path_factory.mktemp("authority") / "ca"))
        yield


@pytest.fixture(scope="module")
def origin() -> Iterator[Origin]:
    with served() as running:
        yield running


ROOT = Path(__file__).parents[2]
PINS = Path(__file__).with_name("pins")

type Program = Callable[..., str]
"""Runs Python with arguments, and variables as keywords; returns what it prints."""


@pytest.fixture(scope="session")
def python_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Program]:
    """Return a function that makes an environment of the packages of a file of ``pins``.

    Behind its packages are those of this one.
    """
    folder = tmp_path_factory.mktemp("environments")

    def run(*command: object, **variables: str) -> str:
        path = os.pathsep.join(str(ROOT / it) for it in ("src", "testbed/src", "."))
        environment = {**os.environ, "PYTHONPATH": path, **variables}
        finished = subprocess.run(
            [*map(str, command)], env=environment, capture_output=True, text=True, check=False
        )
        assert finished.returncode == 0, finished.stdout + finished.stderr
        return finished.stdout

    @cache
    def program(pins: str) -> Program:
        uv, python = (sys.executable, "-m", "uv"), folder / pins / "bin/python"
        run(*uv, "venv", "-q", "--python", sys.executable, folder / pins)
        run(*uv, "pip", "install", "-q", "--python", python, "-r", PINS / f"{pins}.txt")
        (packages,) = (folder / pins).glob("lib/python*/site-packages")
        (packages / "behind.pth").write_text(sysconfig.get_path("purelib"))
        return lambda *arguments, **variables: run(python, *arguments, **variables)

    return program
