"""Programs that no package index has: a clone of their repository for one run of the tests."""

import os
import subprocess
from pathlib import Path

import pytest


def checkout(variable: str, repository: str, commit: str, folder: Path) -> Path:
    """Clone a repository at a commit; skip, with git's own words, where it cannot be reached.

    ``variable`` of the environment names a clone, bare or not, on this machine: what is named there
    and cannot be cloned is a failure.
    """
    given = os.environ.get(variable)
    try:
        _git("clone", "--quiet", "--no-checkout", given or repository, str(folder))
    except subprocess.SubprocessError as error:
        said = getattr(error, "stderr", None) or str(error)
        if given is not None:
            raise AssertionError(
                f"{variable} is {given!r}, which git cannot clone: {said}"
            ) from None
        pytest.skip(f"{repository} cannot be cloned; name a clone in {variable}: {said}")
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
