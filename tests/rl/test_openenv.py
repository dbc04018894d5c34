"""A session has what OpenEnv's own classes ask for."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_sessions_and_their_results_satisfy_openenvs_classes(tmp_path: Path) -> None:
    uv, python = (sys.executable, "-m", "uv"), tmp_path / "env/bin/python"
    pins = FOLDER / "pins/openenv.txt"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    for command in (
        (*uv, "venv", "-q", "--python", sys.executable, str(tmp_path / "env")),
        (*uv, "pip", "install", "-q", "--python", str(python), "-r", str(pins)),
        (str(python), str(FOLDER / "openenv_classes.py")),
    ):
        finished = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        assert finished.returncode == 0, finished.stdout + finished.stderr
    assert json.loads(finished.stdout) == {
        "missing methods": [],
        "owns its loop": True,
        "unknown fields of a result": [],
        "unknown keys of an entry": [],
    }
