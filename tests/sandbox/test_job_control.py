"""Signals that another process sends to WAREX reach the command, as the terminal's own do."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from warex.sandbox.job_control import FORWARDED_SIGNALS, Terminal, forward_signals, signals_blocked

pytestmark = pytest.mark.wire


_PASSES_ON = """
import os, sys, threading
from warex.sandbox.job_control import forward_signals, signals_blocked
passed, heard = [], threading.Event()
def send(number):
    passed.append(number)
    heard.set()
with signals_blocked(), forward_signals(send):
    os.kill(os.getpid(), int(sys.argv[1]))
    heard.wait(10)
print(passed)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGINT, signal.SIGWINCH])
def test_a_signal_of_another_process_is_passed_on(number: int) -> None:
    # In a process of its own: here, other tests' threads might take the signal.
    done = subprocess.run(
        [sys.executable, "-c", _PASSES_ON, str(int(number))], capture_output=True, text=True
    )

    assert done.stdout == f"[{int(number)}]\n", done.stderr


def test_afterwards_nobody_listens_and_the_mask_is_as_it_was() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with signals_blocked() as pending, forward_signals(lambda number: None):
        assert pending == {int(number) for number in before}
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) >= FORWARDED_SIGNALS

    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
    assert "signals" not in {thread.name for thread in threading.enumerate()}


def test_a_thread_that_is_started_meanwhile_never_gets_one() -> None:
    masks: list[set[int]] = []
    with signals_blocked():
        thread = threading.Thread(
            target=lambda: masks.append(
                {int(number) for number in signal.pthread_sigmask(signal.SIG_BLOCK, ())}
            )
        )
        thread.start()
    thread.join()

    assert masks[0] >= {int(number) for number in FORWARDED_SIGNALS}


def test_without_a_terminal_there_is_nothing_to_give_back() -> None:
    nowhere = Terminal(None, os.getpgrp())

    assert nowhere.foreground_group() is None
    nowhere.set_foreground(1)
    nowhere.restore_foreground()
