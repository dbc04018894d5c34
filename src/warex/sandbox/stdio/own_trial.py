"""A trial of `warex mcp`'s own, for a server that is started outside of any."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from warex.engine.handler import (
    AbortHow,
    Address,
    Connection,
    Control,
    Exchange,
    FrameStep,
    Timer,
)
from warex.errors import InputError, WarexError
from warex.lane.config import ProxyConfig
from warex.lane.hosts.own_hosts import TASK_HOST
from warex.lane.lane import Lane, begin_lane
from warex.lane.stdio.sessions import BadCall
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.stdio.trial import TrialGone
from warex.traces import Unscored, leave_outcome, write_error

_MOST_FOLDERS = 10_000


class _Control(Control):
    """A lane asks nothing else of the engine of its messages."""

    def push(self, exchange: Exchange, piece: bytes) -> bool:
        return False

    def add_frames(
        self, exchange: Exchange, steps: Iterable[FrameStep], *, from_client: bool
    ) -> None:
        """There are no WebSockets."""

    def abort(self, exchange: Exchange, how: AbortHow) -> None:
        """Every call says that the trial is void."""

    def close(self, connection: Connection) -> None:
        """There is no connection to a site."""

    def call_later(self, seconds: float, function: Callable[[], None]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, function)


@dataclass(slots=True)
class LaneCaller:
    """Calls a lane of this process."""

    lane: Lane
    _connection: Connection = field(default_factory=lambda: Connection(0, Address("stdio", 0)))

    def call(self, name: str, query: Mapping[str, int], body: bytes) -> dict[str, Any]:
        """Return the answer to a call; raise TrialGone if there is none."""
        url = f"http://{TASK_HOST}/mcp/{name}?{urlencode(query)}"
        try:
            return self.lane.stdio.call(url, body, self._connection)
        except BadCall as refusal:
            raise TrialGone(str(refusal)) from None

    def close(self) -> None:
        """Make no more calls."""


@contextmanager
def own_trial(config: ProxyConfig, notice: Callable[[str], None]) -> Iterator[LaneCaller]:
    """Run a trial in this process; its trace and outcome are complete after the block.

    Raises InputError if a fault cannot be applied, MachineError if the trace cannot be written.
    """
    lane = begin_lane(config, CertificateAuthority(config.ca))
    lane.engine.attach(_Control())
    lane.on_notice = notice
    try:
        yield LaneCaller(lane)
    finally:
        # If the trace cannot be written, the trial is already void.
        with suppress(WarexError):
            lane.finish()
        with suppress(WarexError):
            lane.recorder.close()
        leave_outcome(config.out, lane.recorder.broken, Unscored())


def free_folder(folder: Path) -> Path:
    """Make and return the folder of a trace: this one, or ``-2``, ``-3``… if it has one.

    A client starts its servers again and again, several at once, with the same command.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {folder} is not a folder; name one, or a new one")
    for number in range(1, _MOST_FOLDERS):
        free = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        try:
            free.mkdir(parents=True, mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise write_error(free, error) from None
        return free
    raise InputError(f"--out {folder}: it and {_MOST_FOLDERS - 2:,} more exist; name another")
