"""A session has what OpenEnv's and TRL's own classes ask for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.proxy.support.token_model import PROMPT_IDS, WORDS
from tests.rl.conftest import Program

IDS = [id for _, id, _ in WORDS]
LOGPROBS = [logprob for _, _, logprob in WORDS]

pytestmark = [pytest.mark.slow, pytest.mark.wire, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def results(
    python_with: Callable[[str], Program], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What ``trl_worker`` came to."""
    folder = tmp_path_factory.mktemp("worker")
    script = Path(__file__).with_name("trl_worker.py")
    written = python_with("openenv")(script, folder / "out", WAREX_CA_DIR=str(folder / "ca"))
    loaded: dict[str, Any] = json.loads(written.splitlines()[-1])
    return loaded


def test_sessions_and_their_results_satisfy_openenvs_classes(results: dict[str, Any]) -> None:
    assert results["classes"] == {
        "missing methods": [],
        "owns its loop": True,
        "can be trained on": True,
        "their trace": True,
        "unknown fields of a result": [],
        "unknown keys of an entry": [],
    }


def test_trls_worker_skips_episodes_without_tokens(
    results: dict[str, Any],
) -> None:
    prompt = [0] * len(PROMPT_IDS)
    row = {
        "last message": {"role": "assistant", "content": "click('7')"},
        "ids": PROMPT_IDS + IDS,
        "mask": prompt + [1] * len(IDS),
        "logprobs": pytest.approx(prompt + LOGPROBS),
        "group": 0,
    }
    assert results["rows"] == [
        {**row, "reward": 1.0, "advantage": 1.0},
        {**row, "reward": 0.0, "advantage": -1.0},
    ]


def test_the_process_of_trls_worker_ends_by_itself(results: dict[str, Any]) -> None:
    assert results["exit code"] == 0
