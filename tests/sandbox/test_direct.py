"""A command starts as a shell would start it."""

import os
import signal
import sys
from pathlib import Path

import pytest

from warex.errors import MachineError
from warex.sandbox.direct import find_program, start_direct

pytestmark = pytest.mark.wire


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def code_of(arguments: list[str], environment: dict[str, str] | None = None) -> int:
    return start_direct(arguments, environment or dict(os.environ)).wait()


def test_the_exit_code_is_the_commands_and_negative_for_a_signal() -> None:
    assert code_of(python("raise SystemExit(7)")) == 7
    assert code_of(python("import os; os.kill(os.getpid(), 9)")) == -9


def test_a_command_is_looked_up_on_its_own_path(tmp_path: Path) -> None:
    program = tmp_path / "agent"
    program.write_text("#!/bin/sh\nexit 5\n")
    program.chmod(0o755)

    assert code_of(["agent"], {"PATH": str(tmp_path)}) == 5


def test_a_script_that_names_no_interpreter_is_the_shells(tmp_path: Path) -> None:
    script = tmp_path / "agent"
    script.write_text('exit "$1"\n')
    script.chmod(0o755)

    assert code_of([str(script), "6"]) == 6


@pytest.mark.parametrize(
    ("name", "why"),
    [("no-such-program", "no such program"), ("/", "it is a folder"), ("FILE", "may not be run")],
)
def test_what_cannot_be_started_is_a_sentence(name: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "FILE").touch()
    name = str(tmp_path / name) if name == "FILE" else name

    with pytest.raises(MachineError, match=why):
        find_program(name, {"PATH": str(tmp_path)})


def test_signals_are_as_programs_expect_them() -> None:
    # Python itself ignores SIGPIPE, and the tests' own thread may hold others back.
    code = (
        "import signal; s = open('/proc/self/status').read();"
        "blocked = int(s.partition('SigBlk:')[2].split()[0], 16);"
        "import subprocess; n = signal.SIGPIPE;"
        "raise SystemExit(bool(blocked))"
    )
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        assert code_of(python(code)) == 0
        piped = ["sh", "-c", "yes | head -n 1 > /dev/null; kill -PIPE $$; exit 3"]
        assert code_of(piped) == -signal.SIGPIPE
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_a_signal_reaches_it_and_afterwards_nobody() -> None:
    child = start_direct(["sleep", "600"], dict(os.environ))
    child.signal(signal.SIGTERM)

    assert child.wait() == -signal.SIGTERM
    child.signal(signal.SIGTERM)


def test_handles_that_the_caller_passes_on_reach_it() -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    child = start_direct(python(f"import os; os.write({writing}, b'hello')"), dict(os.environ))
    os.close(writing)

    assert child.wait() == 0
    assert os.read(reading, 100) == b"hello"
    os.close(reading)
