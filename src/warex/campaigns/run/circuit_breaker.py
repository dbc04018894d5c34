"""Stops a campaign after repeated voids in a row."""

import re
from dataclasses import dataclass, field

from warex.errors import MAX_DEATHS_IN_A_ROW, WarexError
from warex.traces import Outcome, Void

MAX_SAME_REASON = 5
"""Voids for one reason after which the campaign stops."""

_VARIES = re.compile(r"\d+|/\S+|, after it said: .*")


def common_reason(reason: str) -> str:
    """Return a void trial's reason without what differs between trials: ports, paths, output."""
    return _VARIES.sub("…", reason)


class CampaignStopped(WarexError):
    """Too many trials in a row are void; the message says why."""

    exit_code = 3


@dataclass(slots=True)
class CircuitBreaker:
    """Counts voids in a row: for one reason, and after the death of a WAREX process.

    The conditions of one task run side by side, so a broken task voids several trials in a row:
    with more than one task, at least two must be affected.
    """

    tasks: int
    _reason: str = ""
    _length: int = 0
    _hit: set[str] = field(default_factory=set)
    _deaths: int = 0

    def record(self, task: str, outcome: Outcome) -> None:
        """Count an attempt's outcome; raise CampaignStopped if a limit is reached."""
        self._deaths = self._deaths + 1 if isinstance(outcome, Void) and outcome.died else 0
        if not isinstance(outcome, Void):
            self._reason = ""
            return
        if self._deaths >= MAX_DEATHS_IN_A_ROW:
            raise CampaignStopped(
                f"{self._deaths} trials in a row are void since a process of WAREX's own was ended,"
                f" so the campaign stops. The last: {outcome.reason}\nLook whether memory runs out"
                " (dmesg), or who ends processes here; then go on with --resume, perhaps with fewer"
                " --jobs."
            )
        reason = common_reason(outcome.reason)
        if reason != self._reason:
            self._reason, self._length, self._hit = reason, 0, set()
        self._length += 1
        self._hit.add(task)
        if self._length >= MAX_SAME_REASON and len(self._hit) >= min(2, self.tasks):
            raise CampaignStopped(
                f"{self._length} trials in a row are void for one reason, so the campaign stops:"
                f" {outcome.reason}\nWhen that is fixed, go on with --resume; if you change the"
                " campaign itself, begin a new run with another --out."
            )
