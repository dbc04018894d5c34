"""Other people's programs that read the exports, each in an environment of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PINS = Path(__file__).with_name("pins")

type Program = Callable[..., str]
"""Runs Python with arguments and returns what it prints."""


@pytest.fixture(scope="session")
def python_with(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Program]:
    """Return a function that makes an environment of the packages of a file of ``pins``."""
    folder = tmp_path_factory.mktemp("environments")

    def done(*command: object) -> str:
        finished = subprocess.run(
            [*map(str, command)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"},
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert finished.returncode == 0, finished.stdout + finished.stderr
        return finished.stdout

    @cache
    def program(pins: str) -> Program:
        uv, python = [sys.executable, "-m", "uv"], folder / pins / "bin/python"
        done(*uv, "venv", "-q", "--python", sys.executable, folder / pins)
        done(*uv, "pip", "install", "-q", "--python", python, "-r", PINS / f"{pins}.txt")
        return lambda *arguments: done(python, *arguments)

    return program
