"""The forkserver of `warex exec` is begun before its line is read, and ends with it."""

import signal

import pytest

from warex.cli import begun
from warex.proxy.forkserver import Forkserver

pytestmark = pytest.mark.wire


def test_only_exec_begins_one_and_takes_that_very_one() -> None:
    with begun.for_command(["run", "exec"]):
        assert begun._waiting == []
    with begun.for_command(["exec", "--", "true"]):
        (waiting,) = begun._waiting
        taken = begun.forkserver()
        assert taken is waiting
        pid = taken.pid
    assert taken.pid == pid, "who took it closes it"
    taken.close()


@pytest.mark.parametrize("help_", ["-h", "--help"])
def test_help_begins_none(help_: str) -> None:
    with begun.for_command(["exec", help_]):
        assert begun._waiting == []
    with begun.for_command(["exec", "--", "curl", help_]):
        assert begun._waiting


def test_what_is_not_taken_is_ended() -> None:
    with begun.for_command(["exec", "--no-such-option"]):
        (server,) = begun._waiting
        process = server._process
    assert isinstance(server, Forkserver)
    assert process is not None
    assert process.returncode == -signal.SIGTERM
