"""Twenty commands at once, each with a scenario, a name and a trace of its own."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.exec.conftest import Desk, Machine, desk_of, surroundings
from tests.exec.support import machine as there
from tests.proxy.support.lanes import wait_until
from tests.sandbox.support.users import USERS
from warex.traces import Dns, FaultDelivered, FaultPlanned, RequestSeen, TrialBegan, read_trace

pytestmark = pytest.mark.slow

COUNT = 20
SCENARIO = """
name: number-{number}
rules:
  - name: rule-{number}
    match: {{url: "https://site-{number}.test/**"}}
    trigger: {{first: 1}}
    fault: {{kind: http_error, status: {status}, body: "of number {number}"}}
"""
# Twice the own site; the next one's name; then until all of them are there, so that none has ended.
SCRIPT = """
curl -sS -w ' %{{http_code}}\\n' https://site-{number}.test/ https://site-{number}.test/
getent hosts site-{next}.test || echo "unknown $?"
read line
"""
MARK = "WAREX_TEST_SIDE_BY_SIDE"


def marked(mark: str) -> set[int]:
    """Processes that have the mark in their environment."""
    result = set()
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdecimal() and mark.encode() in (process / "environ").read_bytes():
                result.add(int(process.name))
    return result


def namespaces(processes: set[int]) -> set[str]:
    result = set()
    for process in processes:
        for kind in ("net", "mnt", "pid", "user"):
            with suppress(OSError):
                result.add(os.readlink(f"/proc/{process}/ns/{kind}"))
    return result


def started(desk: Desk, number: int, mark: str) -> "subprocess.Popen[str]":
    scenario = desk.folder / f"{number}.yaml"
    scenario.write_text(SCENARIO.format(number=number, status=500 + number))
    script = SCRIPT.format(number=number, next=(number + 1) % COUNT)
    options = [
        *("--quiet", "--isolate", "namespace", "--seed", str(number), "--scenario", str(scenario)),
        *("--out", str(desk.folder / f"out-{number}")),
        *("--map", f"https://site-{number}.test=http://127.0.0.1:{there.PLAIN}"),
    ]
    return subprocess.Popen(
        desk.machine.words(
            desk.who, ["-m", "warex.cli", "exec", *options, "--", "sh", "-c", script]
        ),
        env=surroundings(desk.who, desk.folder) | {MARK: mark},
        cwd=desk.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def desks(machine: Machine) -> Iterator[list[Desk]]:
    with ExitStack() as stack:
        yield [stack.enter_context(desk_of(machine, who)) for who in USERS]


def test_each_keeps_its_faults_its_ledger_and_its_names(desks: list[Desk], tmp_path: Path) -> None:
    mark = tmp_path.name
    running = [started(desks[number % len(desks)], number, mark) for number in range(COUNT)]
    messages: list[list[str]] = []
    for process in running:
        assert process.stdout is not None
        messages.append([process.stdout.readline().rstrip("\n") for _ in range(3)])
    # All are there at once, in a network each.
    apart = namespaces(marked(mark))
    ended = [_ended(process) for process in running]

    for number, lines in enumerate(messages):
        expected = [f"of number {number} {500 + number}", "hello 200", "unknown 2"]
        assert lines == expected, (number, ended[number])
    assert {process.returncode for process in running} == {0}
    assert len(apart) > 3 * COUNT
    for number in range(COUNT):
        _check(desks[number % len(desks)].folder / f"out-{number}", number)
    wait_until(lambda: not marked(mark))
    for desk in desks:
        names = {path.name for path in desk.folder.iterdir()}
        assert {it for it in names if not it.startswith("out-") and not it.endswith(".yaml")} <= {
            "ca",
            "home",
        }


def _ended(process: "subprocess.Popen[str]") -> str:
    """Let it go on to its end; return what it said on standard error."""
    return process.communicate("on\n")[1]


def _check(out: Path, number: int) -> None:
    trace = read_trace(out / "events.jsonl")
    (trial,) = trace.events(TrialBegan)
    assert trial.scenario is not None
    assert (trial.seed, trial.scenario["name"]) == (number, f"number-{number}")
    own, next_ = f"site-{number}.test", f"site-{(number + 1) % COUNT}.test"
    assert [seen.url for seen in trace.events(RequestSeen)] == [f"https://{own}/"] * 2
    assert [it.rule for it in trace.events(FaultPlanned)] == [f"rule-{number}"]
    assert len(list(trace.events(FaultDelivered))) == 1
    assert {event.name for event in trace.events(Dns)} == {own, next_}
