"""An injection that changes a page, and what has become of it."""

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from warex.exchange import Exchange
from warex.lane.response_faults.stream_rewriter import StreamedRewriter
from warex.rewriting.base import ValueChange
from warex.scenarios import PlannedInjection
from warex.traces import ChangedValue

MAX_CHANGES: Final = 50
"""Changed values in the trace."""


class PageChange(Struct, eq=False):
    """The state of an injection that rewrites a response, in its page as well."""

    injection: PlannedInjection
    exchange: Exchange
    settle: Callable[[bool], None]
    """Called once the page has reported, with whether the change was seen; or at the trial's end,
    with False."""
    rewriter: StreamedRewriter | None = None
    """Changes the response while it is streamed; None if it has nothing to change."""
    met_bomb: bool = False
    """Whether the body's beginning is a decompression bomb, which passes as it came."""
    awaits_report: bool = False
    """Whether the changed page is to report that the change was shown."""
    changes_nothing: bool = False
    """Whether the page has reported that it has nothing to change."""
    removed_by_page: bool = False
    """Whether the page has undone the change before it was seen."""
    shown: Sequence[ValueChange] = ()
    """What a script was to show in the page, once it is shown."""
    reported: Sequence[ValueChange] = ()
    """The values that a script in the page has changed."""
    left_out: int = 0
    """How many more it has changed."""

    @property
    def applied(self) -> bool:
        """Whether the response had something to change."""
        return self.rewriter is not None and self.rewriter.applied

    @property
    def is_bomb(self) -> bool:
        """Whether the response is a decompression bomb."""
        return self.met_bomb or (self.rewriter is not None and self.rewriter.is_bomb)

    @property
    def changes(self) -> list[ChangedValue]:
        """The changed values, as the trace has them."""
        made = () if self.rewriter is None else self.rewriter.changes
        return [
            *map(changed_value, (*made, *self.shown)),
            *map(reported_value, self.reported),
        ]


def changed_value(change: ValueChange) -> ChangedValue:
    """Return a change that the proxy made or chose, as the trace has it."""
    short = change.short()
    return ChangedValue(where=short.where, before=short.before, after=short.after)


def reported_value(change: ValueChange) -> ChangedValue:
    """Return a change that was reported by a script in the page, as the trace has it."""
    short = change.short()
    return ChangedValue(
        where=short.where, before=short.before, after=short.after, reported_by="page"
    )
