"""Whichever process of WAREX's own is killed, at whatever moment: its trial is made again."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.slow.harness import site
from tests.slow.test_killed_campaign import attempts, marked, wait_for_the_end_of
from tests.trials.shop import browser
from warex.seeds import draw
from warex.traces import Void, read_outcome

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="only Linux tells of others' ends"),
]

TASKS = 10
MARK = "WAREX_KILLED"
AGENT = """
import json, sys, time, urllib.error, urllib.request
task, base_url = sys.argv[1:]
asked = {"model": "m", "messages": [{"role": "user", "content": task}]}
def answer():
    request = urllib.request.Request(
        base_url + "/chat/completions",
        json.dumps(asked).encode(),
        {"Content-Type": "application/json"},
    )
    return json.load(urllib.request.urlopen(request))["choices"][0]["message"]["content"]
for attempt in range(2):
    try:
        urllib.request.urlopen("https://shop.warex.test/" + task).read()
        time.sleep(0.5)
        sys.exit(answer() != "done")
    except urllib.error.HTTPError as error:
        error.close()
sys.exit(1)
"""

# Names of our processes, and what tells each in its command line; the first that fits is it.
KINDS = {
    "playbook": b"warex.agents.scripted_model",
    "reaper": b"warex.sandbox.cleanup import reaper",
    "namespace": b"warex.sandbox.namespace.setup",
    "forkserver": b"warex.proxy.process.forkserver",
}


def campaign(folder: Path, port: int, isolate: str) -> Path:
    agent = folder / "agent.py"
    agent.write_text(AGENT)
    (folder / "playbook.json").write_text(json.dumps({"rules": [{"say": "done"}]}))
    file = folder / "killed.json"
    file.write_text(
        json.dumps(
            {
                "name": "killed",
                "isolate": isolate,
                "jobs": 2,
                "benchmark": {
                    "name": "command",
                    "sites": {"https://shop.warex.test": f"http://127.0.0.1:{port}"},
                    "options": {
                        "command": [sys.executable, str(agent), "{task}", "{base_url}"],
                        "tasks": [f"t{n}" for n in range(TASKS)],
                        "arm": "first_page",
                        "isolated": True,
                    },
                },
                "agents": [{"name": "a", "model": "playbook:playbook.json"}],
                "conditions": [
                    {"name": "clean"},
                    {"name": "down", "scenario": "paper/server-error"},
                ],
            }
        )
    )
    return file


def running(kind: str, mark: str) -> list[int]:
    """Return the processes of a kind, the younger ones last."""
    results = []
    for pid in sorted(marked(mark)):
        with suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            if KINDS["forkserver" if kind == "proxy" else kind] not in line:
                continue
            above = b""
            with suppress(OSError):
                above = Path(f"/proc/{parent}/cmdline").read_bytes()
            is_proxy = b"warex.proxy.process.forkserver" in above
            if kind != "proxy" and is_proxy:
                continue
            if kind == "proxy" and not is_proxy:
                continue
            results.append(pid)
    return results


def attempt_folders(run: Path) -> set[Path]:
    """Return the folders of all attempts that have begun."""
    return set(run.rglob("attempt-*"))


def outcome_of(attempt: Path) -> bytes | None:
    """Return an attempt's outcome as it stands on disk; None before its end."""
    with suppress(FileNotFoundError):
        return (attempt / "outcome.json").read_bytes()
    return None


def is_over(before: set[Path], now: set[Path]) -> bool:
    """Return whether a kill's voids are no longer the last in a row.

    ``before`` are the attempts that had begun by the kill: all of them have ended, and one that
    began later counts. An attempt that counts beside the kill does not part its voids from those of
    the next one: three in a row end the campaign.
    """
    later = [outcome_of(attempt) for attempt in now - before]
    counts = any(outcome is not None and b'"void"' not in outcome for outcome in later)
    return counts and None not in map(outcome_of, before)


def kills(kind: str, process: "subprocess.Popen[bytes]", run: Path) -> int:
    """Kill one after the other, each after the last one's effects; return how many.

    Trials that were void come last, and are left alone: three attempts are all that each has.
    """
    number = 0
    before: set[Path] = set()
    mark = str(run.parent)
    while process.poll() is None and sum(1 for _ in run.rglob("attempt-1")) < 2 * TASKS - 1:
        if number and not is_over(before, attempt_folders(run)):
            time.sleep(0.02)
            continue
        with suppress(subprocess.TimeoutExpired):
            process.wait(draw(1, kind, "moment", number))
        pids = running(kind, mark)
        if not pids:
            continue
        with suppress(ProcessLookupError):
            os.kill(pids[int(draw(1, kind, "which", number) * len(pids))], signal.SIGKILL)
            number += 1
            before = attempt_folders(run)
    return number


def go(folder: Path, file: Path, run: Path) -> "subprocess.Popen[bytes]":
    (folder / "tmp").mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "TMPDIR": str(folder / "tmp"),
        "WAREX_CA_DIR": str(folder / "ca"),
        "WAREX_CHROMIUM": str(browser(folder)),
        MARK: str(folder),
    }
    return subprocess.Popen(
        [sys.executable, "-m", "warex.cli", "run", str(file), "--out", str(run)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        start_new_session=True,
    )


@pytest.fixture
def port() -> Iterator[int]:
    with site({f"/t{n}": "<h1>Shop</h1>" for n in range(TASKS)}) as port:
        yield port


@pytest.mark.parametrize(
    ("kind", "isolate"),
    [
        ("proxy", "environment"),
        ("proxy", "namespace"),
        ("forkserver", "environment"),
        ("reaper", "environment"),
        ("reaper", "namespace"),
        ("namespace", "namespace"),
        ("playbook", "environment"),
    ],
)
def test_a_campaign_counts_every_trial_whoever_is_killed(
    port: int, tmp_path: Path, kind: str, isolate: str
) -> None:
    run = tmp_path / "run"
    with go(tmp_path, campaign(tmp_path, port, isolate), run) as process:
        number = kills(kind, process, run)
        assert process.stdout is not None
        output = process.stdout.read().decode()

    assert process.returncode == 0, output
    assert number >= 3
    wait_for_the_end_of(str(tmp_path))
    assert list((tmp_path / "tmp").iterdir()) == []
    trials = attempts(run)
    assert len(trials) == 2 * TASKS
    void = [outcome for outcomes in trials.values() for outcome in outcomes[:-1]]
    for outcomes in trials.values():
        assert not isinstance(outcomes[-1], Void | None)
        assert getattr(outcomes[-1], "score", None) == 1.0, (outcomes, output)

    assert all(isinstance(each, Void) and each.died for each in void), void


@pytest.mark.parametrize(
    ("kind", "isolate"),
    [("proxy", "environment"), ("forkserver", "environment"), ("namespace", "namespace")],
)
def test_three_in_a_row_end_the_campaign_with_a_sentence(
    port: int, tmp_path: Path, kind: str, isolate: str
) -> None:
    run = tmp_path / "run"
    with go(tmp_path, campaign(tmp_path, port, isolate), run) as process:
        while process.poll() is None:
            for pid in running(kind, str(tmp_path)):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        assert process.stdout is not None
        output = process.stdout.read().decode()

    assert process.returncode == 3, output
    assert "Traceback" not in output
    wait_for_the_end_of(str(tmp_path))
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_command_whose_namespace_is_killed_is_void_and_not_its_own_doing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "warex.cli", "exec", "--isolate", "namespace"]
    environment = {**os.environ, MARK: str(tmp_path)}
    with subprocess.Popen(
        [*command, "--out", str(tmp_path / "trial"), "--", "sh", "-c", "echo up; sleep 600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"up\n"
        os.kill(running("namespace", str(tmp_path))[-1], signal.SIGKILL)
        output = process.stderr.read().decode()

    assert process.returncode == 1, output
    assert "the trial is void: the command's namespace has gone" in output
    assert isinstance(read_outcome(tmp_path / "trial"), Void)
    wait_for_the_end_of(str(tmp_path))
