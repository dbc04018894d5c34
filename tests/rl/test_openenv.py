"""A session has what OpenEnv's and TRL's own classes ask for."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from tests.proxy.support.token_model import PROMPT_IDS, WORDS

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
IDS = [id for _, id, _ in WORDS]
LOGPROBS = [logprob for _, _, logprob in WORDS]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def run(*command: str, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", **variables}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with OpenEnv, and behind it with this one's packages."""
    folder = tmp_path_factory.mktemp("openenv") / "env"
    uv, python = (sys.executable, "-m", "uv"), folder / "bin/python"
    run(*uv, "venv", "-q", "--python", sys.executable, str(folder))
    pins = str(FOLDER / "pins/openenv.txt")
    run(*uv, "pip", "install", "-q", "--python", str(python), "-r", pins)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "behind.pth").write_text(sysconfig.get_path("purelib"))
    return python


def test_sessions_and_their_results_satisfy_openenvs_classes(python: Path) -> None:
    compared = json.loads(run(str(python), str(FOLDER / "openenv_classes.py")))
    assert compared == {
        "missing methods": [],
        "owns its loop": True,
        "can be trained on": True,
        "their trace": True,
        "unknown fields of a result": [],
        "unknown keys of an entry": [],
    }


@pytest.mark.wire
def test_trls_loop_trains_on_the_tokens_and_leaves_an_episode_without_them_out(
    python: Path, tmp_path: Path
) -> None:
    script = str(FOLDER / "trl_loop.py")
    written = run(str(python), script, str(tmp_path / "out"), WAREX_CA_DIR=str(tmp_path / "ca"))
    rollouts: list[dict[str, Any]] = json.loads(written.splitlines()[-1])
    mask = [0] * len(PROMPT_IDS) + [1] * len(IDS)
    row = [PROMPT_IDS + IDS, mask, [0.0] * len(PROMPT_IDS) + LOGPROBS]
    answer = {"role": "assistant", "content": "click('7')"}
    assert rollouts == [
        {"last message": answer, "ids": IDS, "rows": [row], "reward": 1.0},
        {"last message": None, "ids": [], "rows": [], "reward": None},
    ]
