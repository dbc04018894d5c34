"""WebArena-Infinity's runner is run as it is, and what it leaves unsaid is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.adapters.drivers.conftest import Asked
from warex.benchmarks import adapters
from warex.trials.addresses import AGENT_ENDED

DRIVER = Path(adapters.__file__).with_name("drivers") / "infinity_run.py"

TASKS = """
def load_verifier(folder, path):
    print("the judge begins")

def run_task():
    load_verifier("apps/mail", "verify.py")
"""

LIBRARY = """
import asyncio

class Agent:
    async def run(self, max_steps=500):
        print("at most", max_steps, "steps")
"""

RUNNER = """
import asyncio, sys
from browser_use import Agent
from tasks import run_task

if __name__ == "__main__":
    print(sys.argv[1:])
    asyncio.run(Agent().run())
    run_task()
"""


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    (tmp_path / "browser_use.py").write_text(LIBRARY)
    (tmp_path / "tasks.py").write_text(TASKS)
    path = tmp_path / "run_eval_parallel.py"
    path.write_text(RUNNER)
    return path


def run(runner: Path, variables: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    config = {"runner": str(runner), "arguments": ["--workers", "1"], "max_steps": 7}
    return subprocess.run(
        [sys.executable, str(DRIVER), json.dumps(config)],
        env={**os.environ, "NO_PROXY": "*", **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


PRINTED = ["['--workers', '1']", "at most 7 steps", "the judge begins"]


@pytest.mark.wire
def test_the_judge_begins_when_it_is_known_that_the_agent_has_ended(
    runner: Path, asked: Asked
) -> None:
    done = run(runner, {AGENT_ENDED: asked.address})

    assert (done.stdout.splitlines(), done.returncode) == (PRINTED, 0), done.stderr
    assert asked.paths == ["/n0nce"]
