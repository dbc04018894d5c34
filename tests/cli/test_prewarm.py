"""The forkserver of `warex exec` is begun before its line is read, and ends with it."""

import signal

import pytest

from warex.cli import prewarm
from warex.proxy.process.forkserver import Forkserver

pytestmark = pytest.mark.wire


def test_only_exec_begins_one_and_takes_that_very_one() -> None:
    with prewarm.prewarmed(["run", "exec"]):
        assert prewarm._waiting == []
    with prewarm.prewarmed(["exec", "--", "true"]):
        (waiting,) = prewarm._waiting
        taken = prewarm.take_forkserver()
        assert taken is waiting
        pid = taken.pid
    assert taken.pid == pid, "who took it closes it"
    taken.close()


@pytest.mark.parametrize("help_", ["-h", "--help"])
def test_help_begins_none(help_: str) -> None:
    with prewarm.prewarmed(["exec", help_]):
        assert prewarm._waiting == []
    with prewarm.prewarmed(["exec", "--", "curl", help_]):
        assert prewarm._waiting


def test_an_unused_prewarmed_process_is_ended() -> None:
    with prewarm.prewarmed(["exec", "--no-such-option"]):
        (server,) = prewarm._waiting
        process = server._process
    assert isinstance(server, Forkserver)
    assert process is not None
    assert process.returncode == -signal.SIGTERM
