import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from warex.agents.scripted_model.__main__ import main

TASKS = """
[[task]]
name = "a"
goal = "Do it"
oracle = [{page = "p", action = "click", role = "link", name = "n"}]
"""


@pytest.fixture
def tasks(tmp_path: Path) -> str:
    path = tmp_path / "tasks.toml"
    path.write_text(TASKS)
    return str(path)


def _start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "warex.agents.scripted_model", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.wire
def test_the_server_prints_its_port_and_ends_with_standard_input(tasks: str) -> None:
    with _start("--tasks", tasks, "--exit-with-stdin") as process:
        assert process.stdout is not None
        port = json.loads(process.stdout.readline())["port"]
        socket.create_connection(("127.0.0.1", port), timeout=30).close()
        _, errors = process.communicate(timeout=20)
    assert (process.returncode, errors) == (0, "")


@pytest.mark.wire
def test_an_interrupt_ends_it_without_a_traceback(tasks: str) -> None:
    with _start("--tasks", tasks, "--exit-with-stdin") as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


@pytest.mark.wire
def test_a_port_in_use_is_one_sentence(tasks: str, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["--tasks", tasks, "--port", str(port)]) == 2
    assert capsys.readouterr().err == (
        f"Cannot listen on 127.0.0.1:{port}: Address already in use.\n"
    )


def test_a_bad_task_file_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--tasks", str(tmp_path / "none.toml")]) == 2
    assert capsys.readouterr().err.endswith("cannot be read: No such file or directory.\n")


def test_a_bad_port_is_refused(tasks: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["--tasks", tasks, "--port", "65536"])
    assert exit_.value.code == 2
    assert "0 to 65535" in capsys.readouterr().err
