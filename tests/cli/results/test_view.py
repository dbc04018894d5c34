import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, solved
from tests.cli.conftest import Warex


@pytest.fixture
def run(tmp_path: Path) -> Path:
    run = tmp_path / "run"
    RunFolder(run).manifest().trial("clean", "add", solved(), Story().thinks(1, "goto").stops())
    return run


def test_a_run_is_written_as_a_folder(warex: Warex, run: Path, tmp_path: Path) -> None:
    answer = warex("view", run, "--static", tmp_path / "site")

    assert (answer.code, answer.out) == (0, f"wrote  {tmp_path / 'site' / 'index.html'}\n")
    assert (tmp_path / "site" / "data" / "run-0.js").exists()


def test_only_this_machine_is_served(warex: Warex, run: Path) -> None:
    answer = warex("view", run, "--host", "0.0.0.0")

    assert answer.code == 2
    assert "--host 0.0.0.0" in answer.err
    assert "--static DIR" in answer.err


def test_a_port_in_use_and_a_folder_that_is_not_a_run_are_reported(
    warex: Warex, run: Path, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        busy = warex("view", run, "--no-open", "--port", str(port))
    missing = warex("view", tmp_path / "missing")

    assert (busy.code, f"port {port} is not available" in busy.err) == (3, True)
    assert missing.code == 2
    assert "missing is not a folder" in missing.err


def test_the_printed_address_serves_the_run_until_an_interrupt(run: Path) -> None:
    command = [sys.executable, "-m", "warex.cli", "view", str(run), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as viewing:
        assert viewing.stdout
        address = re.search(r"http://\S+", viewing.stdout.readline())
        assert address
        with urllib.request.urlopen(f"{address[0]}data/runs") as answer:
            assert answer.status == 200
        viewing.send_signal(signal.SIGINT)
        assert viewing.wait(timeout=30) == 0
