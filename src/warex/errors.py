"""Errors WAREX raises on purpose, and whose turn it is to act.

    WarexError
    ├── InputError          the user gave something that cannot work; exit code 2
    │   ├── ScenarioError   a scenario or the paper's config.json
    │   ├── CampaignError   a campaign file or its options
    │   └── TraceError      a trace or run folder that cannot be read
    ├── MachineError        this machine lacks something; exit code 3
    └── TrialVoid           the harness broke, not the agent; the trial is not counted
        └── ProcessDied     a process of ours was ended, so it is a MachineError, too

The message is a sentence for the person who can act: what, where, the value, what is allowed. An
injected fault is never an error: it is the measurement, and it is recorded as an event.
"""

import signal
from collections.abc import Callable
from typing import ClassVar, Self


class WarexError(Exception):
    """Base class of every error WAREX raises on purpose."""

    exit_code: ClassVar[int] = 1


class InputError(WarexError):
    """What the user gave names something that does not exist or cannot work."""

    exit_code = 2


class ScenarioError(InputError):
    """A scenario is wrong; the message names the file, the place and what is allowed."""


class CampaignError(InputError):
    """A campaign is wrong; the message names the file, the place and what is allowed."""


class TraceError(InputError):
    """A trace on disk is missing, cut short or of an unknown version."""


class MachineError(WarexError):
    """This machine lacks something WAREX needs; the message names the remedy."""

    exit_code = 3


class TrialVoid(WarexError):
    """The harness failed during a trial, so its result says nothing about the agent."""


class ProcessDied(TrialVoid, MachineError):
    """A process of WAREX's own ended while it was needed: killed, or memory ran out.

    It can be started anew: a campaign makes the trial again, and ends after three in a row.
    """

    @classmethod
    def with_code(cls, what: str, code: int) -> Self:
        """Return one that names the process and its exit code, negative for a signal."""
        if code == -signal.SIGKILL:
            return cls(f"{what} was ended by SIGKILL: by somebody, or for want of memory")
        if code < 0:
            return cls(f"{what} was ended by {_signal(-code)}")
        return cls(f"{what} ended by itself with code {code}")


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # A real-time signal has no name.
        return f"signal {number}"


MAX_DEATHS_IN_A_ROW = 3
"""So many deaths in a row are no accident."""


def retry_if_process_died[T](start: Callable[[], T]) -> T:
    """Return what a function does, called again where a process of ours is ended meanwhile.

    Raises the last ProcessDied of three.
    """
    for _ in range(MAX_DEATHS_IN_A_ROW - 1):
        try:
            return start()
        except ProcessDied:
            pass
    return start()
