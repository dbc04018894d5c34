"""Notices clients that gave up because the proxy served them too late: the trial is then void.

Such a failure is neither the site's nor the scenario's. The kernel keeps what a client sent before
the proxy took it, and how long the client waited.
"""

import socket
from collections.abc import Iterable
from typing import Final

from warex.errors import TrialVoid
from warex.linux.sockets import arrived_at, waited_before_leaving

_PATIENCE: Final = 0.25
"""Seconds after which a client that leaves has given up: one that only tries a port leaves at
once."""
_LOOKUP_PATIENCE: Final = 1.8
"""Seconds after which a resolver has nearly given up
(``sandbox/namespace/name_resolution.py``)."""


def require_patience(client: socket.socket, what: str) -> None:
    """Raise TrialVoid if a client gave up before its connection was accepted."""
    waited = waited_before_leaving(client)
    if waited is not None and waited >= _PATIENCE:
        raise TrialVoid(
            f"the proxy was late: a client waited {waited:.1f} s for {what} and left before it was"
            " served, which is not the site's fault; run it again, on a machine that does less"
            " at the same time"
        )


def require_lookup_in_time(beside: Iterable[tuple[int, int, bytes]], now: float) -> None:
    """Raise TrialVoid if a lookup waited so long that its client may have given up.

    ``now`` is Unix time.
    """
    arrived = arrived_at(beside)
    waited = 0.0 if arrived is None else now - arrived
    if waited >= _LOOKUP_PATIENCE:
        raise TrialVoid(
            f"the proxy was late: a lookup waited {waited:.1f} s for its answer, which is not the"
            " site's fault; run it again, on a machine that does less at the same time"
        )
