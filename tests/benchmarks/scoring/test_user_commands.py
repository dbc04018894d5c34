"""What a user's own command says outside of the agent's environment."""

import os
import select
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from warex.benchmarks.scoring.user_commands import run_user_command, split_command, stopped_when
from warex.errors import TrialVoid


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_exit_code_and_last_line_of_standard_error_are_reported() -> None:
    ran = run_user_command("it", python("import sys; print('out'); sys.exit('first\\nno disk\\n')"))

    assert ran.ending == "ended with code 1 and said: no disk"
    assert (
        run_user_command("it", python("print('out')")).ending == "ended with code 0 and said: out"
    )
    assert run_user_command("it", python("")).ending == "ended with code 0 and said nothing"
    killed = run_user_command("it", python("import os; os.kill(os.getpid(), 9)"))
    assert killed.ending == "was ended by SIGKILL and said nothing"


def test_what_cannot_start_or_does_not_end_voids_the_trial(tmp_path: Path) -> None:
    with pytest.raises(TrialVoid, match="it cannot be started: '/none/at-all': No such file"):
        run_user_command("it", ("/none/at-all",))
    with pytest.raises(TrialVoid, match=r"took longer than 0\.5 s and was ended"):
        run_user_command("it", ("sleep", "60"), limit_s=0.5)


def test_a_background_process_of_a_command_delays_nothing() -> None:
    began = time.monotonic()
    left = "import subprocess; subprocess.Popen(['sleep', '20'])"

    assert run_user_command("it", python(left)).code == 0
    assert time.monotonic() - began < 15


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("", "is empty"),
        ("a 'b", "cannot be split"),
        (
            "https://shop.example/reset",
            "is a URL, and a command is wanted; write for instance: curl",
        ),
        (("a", "b\0"), "zero byte"),
    ],
)
def test_what_is_not_a_command_is_reported(command: str | tuple[str, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        split_command(command)


def test_a_slow_command_is_announced_once() -> None:
    notices: list[str] = []

    run_user_command("the check", ("sleep", "0.4"), notify=notices.append, slow_s=0.1)
    run_user_command("the check", ("true",), notify=notices.append, slow_s=5)

    assert notices == ["the check runs, for 300 s at most: sleep 0.4"]


def test_a_stopped_command_ends_with_its_children(tmp_path: Path) -> None:
    stop = threading.Event()
    starts = f"sleep 60 & echo $! > {tmp_path / 'pid'}; wait"
    errors: list[str] = []

    def lane() -> None:
        with stopped_when(stop.is_set):
            try:
                run_user_command("the reset", ("sh", "-c", starts))
            except TrialVoid as void:
                errors.append(str(void))

    thread = threading.Thread(target=lane)
    thread.start()
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        assert thread.is_alive()
    stop.set()
    thread.join(20)

    assert errors == ["the reset was interrupted"]
    pid = int((tmp_path / "pid").read_text())
    # It was killed, but the kernel may still be ending it.
    with suppress(ProcessLookupError), open(os.pidfd_open(pid), "rb") as ended:
        assert select.select([ended], [], [], 10)[0]
