"""A quick test can start nothing that a machine may lack after `make setup`."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.bare_machine import PROGRAMS

NEEDS = ("nft", "iptables", "certutil", "chromedriver", "curl", "wget", "node", "go", "java", "ip")
"""What the slow tier installs."""


def test_a_quick_test_finds_only_basic_programs() -> None:
    assert [name for name in NEEDS if shutil.which(name)] == []
    assert {path.name for path in Path(os.environ["PATH"]).iterdir()} <= PROGRAMS
    with pytest.raises(FileNotFoundError):
        subprocess.run(["nft", "list", "ruleset"])


@pytest.mark.parametrize("folder", ["/usr/sbin", "/bin"])
def test_a_quick_test_that_starts_another_program_by_its_path_fails(folder: str) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"may not start .*/nft, .* mark the test slow"):
        subprocess.run([f"{folder}/nft", "list", "ruleset"])


def test_a_quick_test_that_finds_a_program_on_another_path_fails(tmp_path: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match="may not start tar"):
        subprocess.run(["tar", "--version"], env={"PATH": "/usr/bin:/bin"})
    own = tmp_path / "tar"
    own.write_text("#!/bin/sh\necho mine\n")
    own.chmod(0o755)

    assert subprocess.run([own], capture_output=True, text=True).stdout == "mine\n"


@pytest.mark.slow
def test_a_slow_test_finds_every_program() -> None:
    assert shutil.which("curl")
