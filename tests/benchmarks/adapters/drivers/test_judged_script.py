"""A harness that judges by the agent's own browser says before that its agent has ended."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.adapters.drivers.conftest import Asked
from warex.benchmarks import adapters
from warex.trials.addresses import AGENT_ENDED

DRIVER = Path(adapters.__file__).with_name("drivers") / "judged_script.py"

EVALUATORS = """
import os
print("sites are known:", os.environ["SHOPPING"])

def evaluator_router(config):
    print("the judge of", config)
"""

SCRIPT = """
import os, sys
# As SteP does: the harness reads it when it is imported.
os.environ["SHOPPING"] = "http://shop.test"
from evaluation_harness import evaluator_router

if __name__ == "__main__":
    print(sys.argv, "warex" in sys.modules)
    evaluator_router("0.json")
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    harness = tmp_path / "evaluation_harness"
    harness.mkdir()
    (harness / "__init__.py").write_text("from .evaluators import *\n")
    (harness / "evaluators.py").write_text(EVALUATORS)
    path = tmp_path / "run.py"
    path.write_text(SCRIPT)
    return path


def run(script: Path, address: str) -> "subprocess.CompletedProcess[str]":
    judge = {"module": "evaluation_harness.evaluators", "function": "evaluator_router"}
    config = {"script": str(script), "arguments": ["--model", "m"], "judge": judge}
    return subprocess.run(
        [sys.executable, str(DRIVER), json.dumps(config)],
        env={**os.environ, "NO_PROXY": "*", AGENT_ENDED: address},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def output_of(script: Path) -> list[str]:
    return [
        "sites are known: http://shop.test",
        f"{[str(script), '--model', 'm']} False",
        "the judge of 0.json",
    ]


@pytest.mark.wire
def test_the_script_runs_as_it_is_and_its_judge_is_announced(script: Path, asked: Asked) -> None:
    done = run(script, asked.address)
    assert (done.stdout.splitlines(), done.returncode) == (output_of(script), 0), done.stderr
    assert asked.paths == ["/n0nce"]


@pytest.mark.wire
def test_without_a_proxy_nothing_is_reported(script: Path) -> None:
    assert run(script, "").stdout.splitlines() == output_of(script)


@pytest.mark.wire
def test_where_no_report_is_possible_the_judge_does_not_begin(script: Path) -> None:
    done = run(script, "http://127.0.0.1:9/n0nce")
    assert (done.stdout.splitlines(), done.returncode) == (output_of(script)[:2], 1)
