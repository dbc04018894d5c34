"""Errors WAREX raises on purpose, and whose turn it is to act.

    WarexError
    ├── InputError          the user gave something that cannot work; exit code 2
    │   ├── ScenarioError   a scenario or the paper's config.json
    │   ├── CampaignError   a campaign file or its options
    │   └── TraceError      a trace or run folder that cannot be read
    ├── MachineError        this machine lacks something; exit code 3
    └── TrialVoid           the harness broke, not the agent; the trial is not counted

The message is a sentence for the person who can act: what, where, the value, what is allowed. An
injected fault is never an error: it is the measurement, and it is recorded as an event.
"""

from typing import ClassVar


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
