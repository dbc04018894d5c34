import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator

import pytest

from warex_testbed.tasks import load_tasks

pytestmark = pytest.mark.wire

COMMAND = (sys.executable, "-m", "warex_testbed", "serve")


@pytest.fixture
def program() -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*COMMAND, "--exit-with-stdin"], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as running:
        yield running
        running.kill()


def ports(program: subprocess.Popen[str]) -> dict[str, int]:
    assert program.stdout is not None
    return dict(json.loads(program.stdout.readline()))


def test_one_line_gives_the_ports(program: subprocess.Popen[str]) -> None:
    printed = ports(program)
    assert set(printed) == {"port", "admin_port"}
    with urllib.request.urlopen(
        f"http://127.0.0.1:{printed['admin_port']}/health", timeout=30
    ) as it:
        assert json.load(it) == {"ok": True, "requests": 0}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_testbed_quietly(program: subprocess.Popen[str], number: int) -> None:
    ports(program)
    program.send_signal(number)
    assert program.wait(30) == 0
    assert program.stderr is not None
    assert program.stderr.read() == ""


def test_the_testbed_ends_with_standard_input(program: subprocess.Popen[str]) -> None:
    ports(program)
    assert program.stdin is not None
    program.stdin.close()
    assert program.wait(30) == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--port", "70000"], "'70000' is not a port"),
        (["--tls-cert", "x.pem"], "only one was given"),
        (
            ["--tls-cert", "absent.pem", "--tls-key", "absent.key"],
            "cannot use absent.pem with absent.key for TLS",
        ),
        (["--host", "192.0.2.1"], "cannot listen on 192.0.2.1, port 0"),
    ],
)
def test_bad_input_is_a_sentence(arguments: list[str], says: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_tasks_are_listed_with_where_each_begins() -> None:
    command = (*COMMAND[:-1], "tasks")
    listed = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
    assert listed.splitlines() == [
        f"{task.name}\thttps://{task.host}{task.start}\t{task.goal}" for task in load_tasks()
    ]
