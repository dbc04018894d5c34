"""Errors that WAREX raises on purpose, by who must act.

    WarexError
    ├── InputError          the user gave something that cannot work; exit code 2
    │   ├── ScenarioError   a scenario or the paper's config.json
    │   ├── CampaignError   a campaign file or its options
    │   └── TraceError      a trace or run folder that cannot be read
    ├── MachineError        this machine lacks something; exit code 3
    ├── CannotTell          a gate neither holds nor is broken; exit code 4
    └── TrialVoid           the harness broke, not the agent; the trial is not counted
        └── ProcessDied     a process of WAREX was killed, so it is a MachineError too

The message says what is wrong, where, the value, and what is allowed. A command prints it and ends
with the exit code; any other exception is a defect of WAREX, or of a package with a plug-in, which
``warex.plugins.plugin_failure`` names. A lane has a process of its own: it records why its trial is
void (``Recorder.void``), sends the message and the exit code to its caller, and the caller makes an
error of the same kind again (``Proxy.void``), which voids the trial.

An injected fault is never an error: it is the measurement, and is recorded as an event.
"""

import signal
from collections.abc import Callable
from typing import ClassVar, Self


class WarexError(Exception):
    """Base class of every error WAREX raises on purpose."""

    exit_code: ClassVar[int] = 1


class InputError(WarexError):
    """The user's input names something that does not exist or cannot work."""

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


class CannotTell(WarexError):
    """A gate neither holds nor is broken: chance, or trials that do not count, leave it open."""

    exit_code = 4


class TrialVoid(WarexError):
    """The harness failed during a trial, so its result says nothing about the agent."""


class ProcessDied(TrialVoid, MachineError):
    """A process of WAREX was killed or ran out of memory while it was needed.

    It can be restarted: a campaign repeats the trial, and stops after three in a row.
    """

    @classmethod
    def with_code(cls, what: str, code: int) -> Self:
        """Return an error with the process's name and exit code, negative for a signal."""
        if code == -signal.SIGKILL:
            return cls(f"{what} was ended by SIGKILL: by a user, or for lack of memory")
        if code < 0:
            return cls(f"{what} was ended by {signal_name(-code)}")
        return cls(f"{what} ended by itself with code {code}")


def signal_name(number: int) -> str:
    """Return a signal's name, as SIGKILL."""
    try:
        return signal.Signals(number).name
    except ValueError:  # A real-time signal has no name.
        return f"signal {number}"


def void_error(cause: WarexError) -> WarexError:
    """Return a TrialVoid, or a MachineError if the trace failed, for example on a full disk."""
    kind = TrialVoid if isinstance(cause, TrialVoid) else MachineError
    return kind(f"the trial is void: {cause}")


MAX_DEATHS_IN_A_ROW = 3


def retry_if_process_died[T](start: Callable[[], T]) -> T:
    """Return ``start()``, repeated after a ProcessDied; the third ProcessDied is raised."""
    for _ in range(MAX_DEATHS_IN_A_ROW - 1):
        try:
            return start()
        except ProcessDied:
            pass
    return start()
