"""Process 1: how commands start, what they are given, how their end is reported."""

import errno
import fcntl
import gc
import marshal
import os
import resource
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.sandbox.support.fake_proxy import FakeNetwork, open_fake_network
from warex.proxy.certificates.ca import ensure_ca
from warex.sandbox.namespace.init_process import CommandServer
from warex.sandbox.namespace.launcher import CommandNotStarted

pytestmark = pytest.mark.wire


@pytest.fixture(scope="module")
def inside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeNetwork]:
    with open_fake_network(
        ensure_ca(tmp_path_factory.mktemp("authority") / "ca"), os.environ
    ) as network:
        yield network


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -9 $$", -9), ("true", 0)])
def test_the_commands_exit_status_is_reported(inside: FakeNetwork, script: str, code: int) -> None:
    command = inside.start("sh", "-c", script)

    assert command.wait(10) == code
    assert command.wait(10) == code
    command.signal(signal.SIGTERM)


def test_waiting_may_end_before_the_command_does(inside: FakeNetwork) -> None:
    command = inside.start("sleep", "100")

    with pytest.raises(TimeoutError):
        command.wait(0.01)
    command.signal(signal.SIGKILL)
    assert command.wait(10) == -signal.SIGKILL


@pytest.mark.parametrize(
    ("name", "status", "why"),
    [
        ("no-such-program", 127, "No such file or directory"),
        ("/etc/passwd", 126, "Permission denied"),
        ("/etc", 126, "Permission denied"),
    ],
)
def test_what_cannot_be_started_is_said_as_a_shell_would(
    inside: FakeNetwork, name: str, status: int, why: str
) -> None:
    with pytest.raises(CommandNotStarted, match=f"'{name}' cannot be started: {why}") as caught:
        inside.start(name)

    assert caught.value.status == status


def test_a_folder_that_does_not_exist_is_named(inside: FakeNetwork) -> None:
    with pytest.raises(CommandNotStarted, match="'/nowhere' cannot be entered"):
        inside.run("true", cwd=Path("/nowhere"))


def test_a_script_without_an_interpreter_is_the_shells(inside: FakeNetwork, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo by the shell: $1\n")
    script.chmod(0o755)

    assert inside.run(str(script), "one") == (0, "by the shell: one\n")


def test_an_environment_may_be_larger_than_a_message(inside: FakeNetwork) -> None:
    large = {f"LARGE_{number}": "x" * 100_000 for number in range(8)}

    code, message = inside.run(
        "sh", "-c", "echo ${#LARGE_7}", variables={**inside.environment, **large}
    )

    assert (code, message) == (0, "100000\n")


def test_other_handles_are_passed_under_their_own_numbers(inside: FakeNetwork) -> None:
    out, into = os.pipe()
    with open(out, "rb") as stream:
        command = inside.namespace.start(
            ["sh", "-c", f"echo passed > /proc/self/fd/{into}"],
            inside.environment,
            stdin=0,
            stdout=1,
            stderr=2,
            pass_fds=[into],
        )
        os.close(into)
        assert stream.read() == b"passed\n"
    assert command.wait(10) == 0


def test_a_start_that_meets_a_limit_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_more() -> int:
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    monkeypatch.setattr(os, "fork", no_more)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    request = os.memfd_create("request")
    os.write(request, marshal.dumps({"arguments": [b"true"]}))
    os.lseek(request, 0, os.SEEK_SET)
    inputs = os.open("/dev/null", os.O_RDONLY)

    with ours:
        CommandServer(ours, None)._start([request, theirs.detach(), inputs])

        assert marshal.loads(ours.recv(4096)) == ("failed", errno.EAGAIN, "true", False)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(inputs)


def test_a_limit_of_open_files_is_reported_with_its_remedy(inside: FakeNetwork) -> None:
    last = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 1
    with open(os.devnull, "r+b") as nothing:
        high = fcntl.fcntl(nothing, fcntl.F_DUPFD, last)
        try:
            with pytest.raises(
                CommandNotStarted, match="Too many open files; raise the limit"
            ) as caught:
                # No number is left above this one for the streams to wait in.
                inside.namespace.start(
                    ["true"],
                    inside.environment,
                    stdin=nothing,
                    stdout=nothing,
                    stderr=nothing,
                    pass_fds=[high],
                )
        finally:
            os.close(high)
    assert caught.value.status == 126


def test_a_command_that_nobody_waits_for_leaks_nothing(inside: FakeNetwork) -> None:
    inside.start("true")

    gc.collect()  # A socket that is left open would be reported now, as an error.


def test_orphans_are_taken_in(inside: FakeNetwork) -> None:
    dead = "cat /proc/[0-9]*/stat 2>&1 | grep -q ') Z'"
    script = f"(sh -c 'exit 3' & ) ; while {dead}; do :; done; echo none"

    assert inside.run("sh", "-c", script) == (0, "none\n")


def test_commands_run_side_by_side(inside: FakeNetwork) -> None:
    def one(number: int) -> tuple[int, str]:
        return inside.run("sh", "-c", f"echo {number}; exit {number}")

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(one, range(24))) == [(n, f"{n}\n") for n in range(24)]
