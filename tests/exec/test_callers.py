"""Whoever starts `warex exec`, and however: it ends when the command does."""

import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.cli.process import WAREX
from tests.sandbox.support.users import USERS, folder_of, python_as

pytestmark = pytest.mark.wire


def hold_back() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])


def ignore() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


@pytest.mark.parametrize(
    ("habit", "mode"),
    [
        (hold_back, "namespace"),
        (ignore, "environment"),
        pytest.param(hold_back, "environment", marks=pytest.mark.slow),
        pytest.param(ignore, "namespace", marks=pytest.mark.slow),
    ],
)
def test_a_caller_who_wants_to_hear_of_no_child_hears_of_the_commands_end(
    mode: str, habit: Callable[[], None]
) -> None:
    code = "import time; time.sleep(0.3); raise SystemExit(7)"
    done = subprocess.run(
        [*WAREX, "exec", "--quiet", "--isolate", mode, "--", sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=habit,
        check=False,
    )

    assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


@pytest.mark.parametrize(
    "limit", [1, *(pytest.param(limit, marks=pytest.mark.slow) for limit in (2, 4, 5, 6))]
)
def test_a_low_process_limit_is_reported(limit: int) -> None:
    code = f"""
import resource, sys
from warex.cli import main
resource.setrlimit(resource.RLIMIT_NPROC, ({limit}, {limit}))
main(["exec", "--", "true"])
"""
    ordinary = USERS[-1]  # The limit does not bind root.
    with folder_of(ordinary) as folder:
        done = python_as(ordinary, code, folder)

    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("warex: ")
    assert "ulimit -u" in done.stderr
