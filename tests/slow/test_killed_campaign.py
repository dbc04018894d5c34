"""A campaign may be killed at any moment: what was finished stays, the rest runs, nothing else."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from tests.slow.harness import site
from tests.trials.shop import browser
from warex.analysis.run.load import load_run
from warex.seeds import draw
from warex.traces import Outcome, TrialKey, Void, find_trials, read_outcome

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of others' ends"),
]

KILLS = 15
GOES = 3 * KILLS
"""After so many the machine is taken to end each of them before its moment."""
TASKS = 12
MARK = "WAREX_KILLED"

AGENT = """
import sys, urllib.error, urllib.request
for attempt in range(2):
    try:
        urllib.request.urlopen("https://shop.warex.test/" + sys.argv[1]).read()
        sys.exit(0)
    except urllib.error.HTTPError as error:
        error.close()
sys.exit(1)
"""


def campaign(folder: Path, port: int) -> Path:
    agent = folder / "agent.py"
    agent.write_text(AGENT)
    file = folder / "killed.json"
    file.write_text(
        json.dumps(
            {
                "name": "killed",
                "benchmark": {
                    "name": "command",
                    "sites": {"https://shop.warex.test": f"http://127.0.0.1:{port}"},
                    "options": {
                        "command": [sys.executable, str(agent), "{task}"],
                        "tasks": [f"t{n}" for n in range(TASKS)],
                        "arm": "first_page",
                        "isolated": True,
                    },
                },
                "agents": [{"name": "a", "model": "none"}],
                "conditions": [
                    {"name": "clean"},
                    {"name": "down", "scenario": "paper/server-error"},
                ],
            }
        )
    )
    return file


def finished(run: Path) -> dict[Path, bytes]:
    """Return every outcome that stands on disk."""
    return {path: path.read_bytes() for path in run.rglob("outcome.json")}


def marked(mark: str) -> list[int]:
    """Return all processes that were started with a mark in their environment."""
    results = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and mark.encode() in (entry / "environ").read_bytes():
                results.append(int(entry.name))
    return results


def wait_for_the_end_of(mark: str) -> None:
    deadline = time.monotonic() + 60
    while left := marked(mark):
        for pid in left:
            with suppress(ProcessLookupError):
                ended = os.pidfd_open(pid)
                at_most = max(0.0, deadline - time.monotonic())
                assert select.select([ended], [], [], at_most)[0], (
                    pid,
                    Path(f"/proc/{pid}/cmdline").read_bytes(),
                )
                os.close(ended)


def attempts(run: Path) -> Mapping[TrialKey, list[Outcome | None]]:
    """Return how each trial's attempts came out, in their order."""
    by_key: dict[TrialKey, list[Outcome | None]] = defaultdict(list)
    for key, number, folder in find_trials(run):
        assert number == len(by_key[key]) + 1
        by_key[key].append(read_outcome(folder))
    return by_key


def test_a_campaign_killed_at_many_moments_is_whole_in_the_end(tmp_path: Path) -> None:
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    environment = {
        **os.environ,
        "TMPDIR": str(scratch),
        "WAREX_CA_DIR": str(tmp_path / "ca"),
        "WAREX_CHROMIUM": str(browser(tmp_path)),
        MARK: str(tmp_path),
    }
    runs = [tmp_path / "runs" / "0"]
    before: dict[Path, bytes] = {}

    with site({f"/t{n}": "<h1>Shop</h1>" for n in range(TASKS)}) as port:
        file = campaign(tmp_path, port)

        def go(*more: str) -> "subprocess.Popen[bytes]":
            command = [sys.executable, "-m", "warex.cli", "run", str(file), "--resume", *more]
            return subprocess.Popen(
                [*command, "--out", str(runs[-1])],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=environment,
                start_new_session=True,
            )

        def require(process: "subprocess.Popen[bytes]") -> None:
            _, errors = process.communicate(timeout=300)
            assert process.returncode == 0, errors.decode()

        # How long a go takes to its first trials depends on the machine.
        began = time.monotonic()
        require(go("--limit", "2"))
        length = time.monotonic() - began
        ends: list[int] = []
        while ends.count(-signal.SIGKILL) < KILLS:
            assert len(ends) < GOES, ends
            with go() as process:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(draw(1, "moment", len(ends)) * 1.5 * length)
                process.send_signal(signal.SIGKILL)
            ends.append(process.returncode)
            now = finished(tmp_path / "runs")
            assert before.items() <= now.items()
            before = now
            if ends[-1] == 0:
                # It was done before its moment came: the next one is killed in its place.
                runs.append(runs[-1].with_name(str(len(runs))))
            else:
                assert ends[-1] == -signal.SIGKILL
        require(go())

    wait_for_the_end_of(str(tmp_path))
    assert list(scratch.iterdir()) == []
    assert before.items() <= finished(tmp_path / "runs").items()
    cut_off = 0
    for run in sorted((tmp_path / "runs").iterdir()):
        trials = attempts(run)
        assert len(trials) == 2 * TASKS
        for outcomes in trials.values():
            *earlier, last = outcomes
            # Nothing is run again once it counts, and in the end everything does.
            assert last is not None
            assert not isinstance(last, Void)
            assert all(each is None or isinstance(each, Void) for each in earlier)
            cut_off += earlier.count(None)
        assert [trial.solved for trial in load_run(run).trials] == [True] * 2 * TASKS
    # The moments were not all before the first trial or after the last.
    assert cut_off > 0
