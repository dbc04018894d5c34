"""WebVoyager's judge is shown the one task that was run, under a name that it looks for."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.adapters.drivers.conftest import Asked
from warex.benchmarks import adapters
from warex.trials.addresses import AGENT_ENDED

DRIVER = Path(adapters.__file__).with_name("drivers") / "webvoyager_task.py"

RUN = """\
import pathlib, sys
folder = pathlib.Path("results/now/taskMap--0")
folder.mkdir(parents=True)
(folder / "seen.txt").write_text(" ".join(sys.argv[1:]))
sys.exit(int(sys.argv[1]))
"""

JUDGE = """\
import pathlib, sys
print("judged", pathlib.Path("judged/taskAllrecipes--0/seen.txt").read_text(), sys.argv[1:])
"""


def drive(folder: Path, code: int, *, judge: bool = True, ended: str = "") -> int:
    (folder / "judged").mkdir()
    config: dict[str, Any] = {
        "run": [sys.executable, "-c", RUN, str(code)],
        "judge": [sys.executable, "-c", JUDGE] if judge else [],
        "results": "results",
        "judged": "judged",
        "verdict": "judge.log",
    }
    return subprocess.run(
        [sys.executable, str(DRIVER), json.dumps(config)],
        cwd=folder,
        env={"OPENAI_API_KEY": "k", "NO_PROXY": "*", AGENT_ENDED: ended},
        check=False,
        timeout=30,
    ).returncode


@pytest.mark.wire
def test_the_judge_sees_what_the_agent_left(tmp_path: Path, asked: Asked) -> None:
    assert drive(tmp_path, 0, ended=asked.address) == 0
    assert asked.paths == ["/n0nce"], "it is reported first"
    assert (tmp_path / "judge.log").read_text() == "judged 0 --api_key k ['--api_key', 'k']\n"


@pytest.mark.wire
@pytest.mark.parametrize(("code", "judge"), [(3, True), (0, False)])
def test_nothing_is_judged_after_a_crash_or_without_a_judge(
    tmp_path: Path, code: int, judge: bool
) -> None:
    assert drive(tmp_path, code, judge=judge) == code
    assert not (tmp_path / "judge.log").exists()
