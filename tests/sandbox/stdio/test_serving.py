"""A server's process: how it starts, how it ends, and what outlives it."""

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import WAREX

pytestmark = [pytest.mark.wire, pytest.mark.slow]

CUT = {
    "name": "cut",
    "rules": [
        {
            "name": "cut",
            "match": {"mcp": {}},
            "trigger": {"first": 1},
            "fault": {"kind": "connection_cut"},
        }
    ],
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))


def ran(*arguments: object, data: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*WAREX, "mcp", *map(str, arguments)],
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_a_script_without_a_shebang_is_run_by_the_shell(tmp_path: Path) -> None:
    script = tmp_path / "server"
    script.write_text("cat; exit 5\n")
    script.chmod(0o755)
    done = ran("--", script, data=b"hello\n")
    assert (done.stdout, done.returncode) == (b"hello\n", 5)


def test_what_a_server_leaves_behind_does_not_hold_its_client() -> None:
    # It keeps standard output open for longer than this test may take.
    done = ran("--", "sh", "-c", "sleep 90 2>/dev/null & echo $!; exit 4")
    os.kill(int(done.stdout), signal.SIGKILL)
    assert done.returncode == 4


def test_all_that_a_server_has_said_reaches_a_client_that_reads_late() -> None:
    words = [*WAREX, "mcp", "--", sys.executable, "-c", "print('x' * 10_000_000)"]
    late = f"{shlex.join(words)} | (sleep 3; wc -c)"
    done = subprocess.run(["sh", "-c", late], capture_output=True, timeout=60, check=True)
    assert int(done.stdout) == 10_000_001


def test_a_client_that_reads_no_more_ends_its_server() -> None:
    words = [*WAREX, "mcp", "--", "yes"]
    one = f"{shlex.join(words)} | head -n 1"
    done = subprocess.run(["sh", "-c", one], capture_output=True, timeout=60, check=True)
    assert done.stdout == b"y\n"


def test_a_cut_is_a_server_that_crashes(tmp_path: Path) -> None:
    scenario = tmp_path / "cut.json"
    scenario.write_text(json.dumps(CUT))
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look"}}
    server = ("sh", "-c", "trap '' TERM; sleep 90")
    with subprocess.Popen(
        [*WAREX, "mcp", "--scenario", str(scenario), "--", *server],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.read() == b""
        assert process.wait(30) == 1
