"""Clones of programs that are in no package index, for one run of the tests."""

import os
import subprocess
from pathlib import Path

import pytest


def checkout(variable: str, repository: str, commit: str, folder: Path) -> Path:
    """Clone a repository at a commit; skip with git's message if it cannot be reached.

    The environment variable ``variable`` may name a clone on this machine; if that cannot be
    cloned, the test fails.
    """
    inputs = os.environ.get(variable)
    try:
        _git("clone", "--quiet", "--no-checkout", inputs or repository, str(folder))
    except subprocess.SubprocessError as error:
        message = getattr(error, "stderr", None) or str(error)
        if inputs is not None:
            raise AssertionError(
                f"{variable} is {inputs!r}, which git cannot clone: {message}"
            ) from None
        pytest.skip(f"{repository} cannot be cloned; name a clone in {variable}: {message}")
    _git("-C", str(folder), "checkout", "--quiet", commit)
    return folder


def _git(*arguments: str) -> None:
    subprocess.run(
        ["git", *arguments],
        env=os.environ | {"GIT_TERMINAL_PROMPT": "0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
