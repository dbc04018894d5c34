"""A session has what OpenEnv's and TRL's own classes ask for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.proxy.support.token_model import PROMPT_IDS, WORDS
from tests.rl.conftest import Program

FOLDER = Path(__file__).parent
IDS = [id for _, id, _ in WORDS]
LOGPROBS = [logprob for _, _, logprob in WORDS]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def python(python_with: Callable[[str], Program]) -> Program:
    return python_with("openenv")


def test_sessions_and_their_results_satisfy_openenvs_classes(python: Program) -> None:
    compared = json.loads(python(FOLDER / "openenv_classes.py"))
    assert compared == {
        "missing methods": [],
        "owns its loop": True,
        "can be trained on": True,
        "their trace": True,
        "unknown fields of a result": [],
        "unknown keys of an entry": [],
    }


@pytest.mark.wire
def test_trls_worker_trains_on_the_tokens_and_leaves_an_episode_without_them_out(
    python: Program, tmp_path: Path
) -> None:
    script, ca = FOLDER / "trl_worker.py", str(tmp_path / "ca")
    written = python(script, tmp_path / "out", WAREX_CA_DIR=ca)
    result: dict[str, Any] = json.loads(written.splitlines()[-1])
    prompt = [0] * len(PROMPT_IDS)
    row = {
        "last message": {"role": "assistant", "content": "click('7')"},
        "ids": PROMPT_IDS + IDS,
        "mask": prompt + [1] * len(IDS),
        "logprobs": pytest.approx(prompt + LOGPROBS),
        "group": 0,
    }
    assert result["rows"] == [
        {**row, "reward": 1.0, "advantage": 1.0},
        {**row, "reward": 0.0, "advantage": -1.0},
    ]
    assert result["exit code"] == 0, "the worker's process was ended by force"
