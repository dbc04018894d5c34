"""The injection events of a trace that this process is writing."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from warex.errors import TraceError
from warex.text.lazy_pattern import lazy_re
from warex.traces.events import FaultDelivered, FaultMissed, FaultPlanned

type InjectionEvent = FaultPlanned | FaultDelivered | FaultMissed

_STAMPED: Final = lazy_re(rb'\{(?:"\w+":[^,"]+,)+"at":"[^"]+",(?="event":"fault_)')
"""The beginning of a line with such an event: its stamps."""
_decoder = msgspec.json.Decoder(InjectionEvent.__value__)


def iter_ledger(path: Path) -> Iterator[InjectionEvent]:
    """Yield the injection events, in order. Raises TraceError if the trace cannot be read."""
    try:
        with open(path, "rb") as lines:
            for line in lines:
                if stamps := _STAMPED.match(line):
                    yield _decoder.decode(b"{" + line[stamps.end() :])
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from error
