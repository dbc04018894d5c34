"""A command ends when it should, and takes all with it that it started."""

import sys
import threading
from pathlib import Path

import pytest

from warex.errors import MachineError
from warex.sandbox.cleanup import process_tree
from warex.sandbox.command import run_command

pytestmark = pytest.mark.wire

# Starts a grandchild in a session of its own, as Playwright starts its browser, and says so.
BREEDER = """
import subprocess, sys, time
grandchild = subprocess.Popen(
    [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session={detached}
)
print(grandchild.pid, flush=True)
time.sleep({seconds})
"""


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_the_exit_code_is_the_commands_own_and_its_words_are_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = "import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)"

    done = run_command(python(code), {}, log, timeout_s=30)

    assert done.code == 7
    assert set(log.read_text().split()) == {"out", "err"}
    assert 0 < done.seconds < 30


def test_a_command_killed_by_a_signal_says_which(tmp_path: Path) -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"

    assert run_command(python(code), {}, tmp_path / "log", timeout_s=30).code == -9


def test_a_command_gets_the_environment_it_is_given(tmp_path: Path) -> None:
    code = "import os; print(os.environ['COLOUR'])"

    run_command(python(code), {"COLOUR": "green"}, tmp_path / "log", timeout_s=30)

    assert (tmp_path / "log").read_text() == "green\n"


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc")
@pytest.mark.parametrize("detached", [False, True])
def test_when_its_time_is_up_nothing_of_it_is_left(tmp_path: Path, detached: bool) -> None:
    code = BREEDER.format(detached=detached, seconds=600)

    done = run_command(python(code), {}, tmp_path / "log", timeout_s=1.5)

    assert done.code is None
    assert not alive(int((tmp_path / "log").read_text()))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="there is no /proc")
@pytest.mark.parametrize("detached", [False, True])
def test_what_a_command_left_running_ends_with_it(tmp_path: Path, detached: bool) -> None:
    code = BREEDER.format(detached=detached, seconds=0)

    done = run_command(python(code), {}, tmp_path / "log", timeout_s=60)

    assert done.code == 0
    assert done.seconds < 30
    assert not alive(int((tmp_path / "log").read_text()))


def test_a_command_that_ignores_polite_words_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_tree, "_TERM_SECONDS", 0.2)
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "print('deaf', flush=True); time.sleep(600)"
    )

    done = run_command(python(code), {}, tmp_path / "log", timeout_s=1)

    assert done.code is None


def test_a_command_ends_by_its_stop_event(tmp_path: Path) -> None:
    stop = threading.Event()
    timer = threading.Timer(0.3, stop.set)
    timer.start()

    code = "import time; time.sleep(600)"
    done = run_command(python(code), {}, tmp_path / "log", timeout_s=60, stop=stop.is_set)

    timer.join()
    assert done.code is None
    assert done.seconds < 30


def test_a_program_that_does_not_exist_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="'/no/such/program' cannot be started: No such file"):
        run_command(["/no/such/program"], {}, tmp_path / "log", timeout_s=1)


def test_a_log_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="cannot be written"):
        run_command(python(""), {}, tmp_path / "missing" / "log", timeout_s=1)
