"""Where events stand on a day's time line: side by side when they overlap."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import time

from warex_testbed.sites.calendar.model import Event

FIRST_HOUR, LAST_HOUR = 7, 22
"""The hours that are drawn; an event outside them sticks to the edge."""


@dataclass(frozen=True, slots=True)
class Block:
    """An event on the time line, all in percent of the day's column."""

    event: Event
    top: float
    height: float
    left: float
    width: float


def share(moment: time) -> float:
    """Return how far down the time line a moment is, in percent."""
    hours = moment.hour + moment.minute / 60 - FIRST_HOUR
    return round(100 * min(max(hours / (LAST_HOUR - FIRST_HOUR), 0), 1), 3)


def blocks(events: Sequence[Event]) -> list[Block]:
    """Place the timed events of one day, given in order of time."""
    placed: list[Block] = []
    cluster: list[tuple[Event, int]] = []
    until = time.min
    for event in events:
        if event.start is None or event.end is None:
            continue
        if cluster and event.start >= until:
            placed += _side_by_side(cluster)
            cluster, until = [], time.min
        taken = {lane for other, lane in cluster if other.end and other.end > event.start}
        lane = next(number for number in range(len(cluster) + 1) if number not in taken)
        cluster.append((event, lane))
        until = max(until, event.end)
    return placed + _side_by_side(cluster)


def _side_by_side(cluster: Sequence[tuple[Event, int]]) -> list[Block]:
    lanes = 1 + max((lane for _, lane in cluster), default=0)
    return [
        Block(
            event=event,
            top=min(share(event.start), 97),
            height=max(share(event.end) - share(event.start), 3),
            left=round(100 * lane / lanes, 3),
            width=round(100 / lanes, 3),
        )
        for event, lane in cluster
        if event.start and event.end
    ]
