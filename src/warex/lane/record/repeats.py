"""Counts what a peer repeats without end, so that a flood does not fill the disk."""

from collections import Counter
from typing import Final, Literal

from warex.lane.record.recorder import Recorder
from warex.traces import Repeated

type RepeatedEvent = Literal["request", "request_refused", "site_unreachable"]

RECORDED: Final = 1000
"""Events of a kind that are written one by one."""


class Repeats:
    """The repeats of one trial."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._seen: Counter[tuple[RepeatedEvent, str]] = Counter()

    def counts(self, event: RepeatedEvent, why: str) -> bool:
        """Note an event; return whether it is only counted, as many like it were written."""
        self._seen[event, why] += 1
        return self._seen[event, why] > RECORDED

    def finish(self) -> None:
        """Record what was only counted, at the end of the trial."""
        for (event, why), times in self._seen.items():
            if times > RECORDED:
                self._recorder.write(Repeated(kind=event, why=why, times=times - RECORDED))
        self._seen.clear()
