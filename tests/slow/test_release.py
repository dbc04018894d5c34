"""The wheels are built, installed and tried, a part of what `make release-check` does."""

import sys
from pathlib import Path

import pytest
from scripts.distributions import build
from scripts.release_check import install, interpreter, lacks, try_base, try_demo

pytestmark = [pytest.mark.slow, pytest.mark.browser]


def test_the_wheels_alone_run_a_command_and_the_demo(tmp_path: Path) -> None:
    wheels = tmp_path / "my wheels"
    files = build(wheels, "https://warex.example/o/warex", "--wheel")
    assert {path.name: lacks(path) for path in files} == {path.name: [] for path in files}

    python = interpreter("3.12") or sys.executable
    bin_ = install(python, tmp_path / "environment", wheels, "demo", by="uv")

    try_base(bin_, tmp_path / "run")
    try_demo(bin_, tmp_path / "run")
