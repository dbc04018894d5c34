"""The process that talks to Ray, so that the campaign survives it.

Ray ends its drivers without notice when its head is lost. The campaign therefore keeps its queue
and folder in its own process, and this one only forwards attempts and results.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Final

from warex.campaigns.ray.node import AttemptResult, CampaignPayload, run_attempt
from warex.errors import WarexError
from warex.traces import TrialKey

CPUS_A_TRIAL: Final = 1
MEMORY_A_TRIAL: Final = 1024**3
"""Bytes for a Chromium, an agent and a proxy."""
LOCAL: Final = "local"
"""The address of a cluster that is started on this machine for this campaign."""

_POLL: Final = 0.05
"""Seconds between two checks of the pipe while attempts run."""


@dataclass(frozen=True, slots=True)
class AttemptRequest:
    """The campaign requests an attempt."""

    number: int
    key: TrialKey
    attempt: int
    answers: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Connected:
    """The cluster is connected, or its size changed."""

    trials_at_once: int


@dataclass(frozen=True, slots=True)
class AttemptReturned:
    """An attempt returned, or an error of its node."""

    number: int
    result: AttemptResult | WarexError


@dataclass(frozen=True, slots=True)
class AttemptLost:
    """The worker of an attempt is lost."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class Unreachable:
    """The cluster cannot be reached."""

    why: str


type GatewayMessage = Connected | AttemptReturned | AttemptLost | Unreachable


def gateway(pipe: Connection, address: str, lanes: int | None, work: CampaignPayload) -> None:
    """Serve the campaign until the pipe is closed; ``lanes`` sizes a local cluster."""
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # By default Ray waits a minute for a head that is gone.
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", "20")
    silence_stderr()
    import ray

    local = address == LOCAL
    try:
        ray.init(
            # Ray too starts a cluster for "local"; without an address it looks for a running one.
            address=address,
            num_cpus=lanes if local else None,
            include_dashboard=False if local else None,
            log_to_driver=False,
            configure_logging=False,
        )
    except (OSError, RuntimeError, ValueError) as error:
        pipe.send(Unreachable(str(error).splitlines()[0]))
        return
    try:
        _serve(ray, pipe, ray.put(work))
    except (EOFError, BrokenPipeError):
        pass
    finally:
        ray.shutdown()


def silence_stderr() -> None:
    """Hide what Ray's library writes to standard error; Python's tracebacks are still shown."""
    sys.stderr = os.fdopen(os.dup(2), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _serve(ray: Any, pipe: Connection, work: Any) -> None:
    remote = ray.remote(num_cpus=CPUS_A_TRIAL, memory=MEMORY_A_TRIAL, max_retries=0)(run_attempt)
    running: dict[Any, int] = {}
    room = 0
    while True:
        if (now := int(ray.cluster_resources().get("CPU", 0)) // CPUS_A_TRIAL) != room:
            room = now
            pipe.send(Connected(room))
        while pipe.poll(_POLL if running else 1.0):
            asked: AttemptRequest = pipe.recv()
            reference = remote.remote(work, asked.key, asked.attempt, asked.answers)
            running[reference] = asked.number
        for reference in _ended(ray, list(running)):
            pipe.send(_result(ray, reference, running.pop(reference)))


def _ended(ray: Any, running: list[Any]) -> list[Any]:
    if not running:
        return []
    ended: list[Any] = ray.wait(running, num_returns=len(running), timeout=_POLL)[0]
    return ended


def _result(ray: Any, reference: Any, number: int) -> AttemptReturned | AttemptLost:
    try:
        return AttemptReturned(number, ray.get(reference))
    except ray.exceptions.RayTaskError:
        # An error in WAREX's code, not in the cluster.
        raise
    except ray.exceptions.RayError as error:
        return AttemptLost(number, str(error).strip().splitlines()[0])


def main(handle: str, address: str, lanes: str) -> None:
    """Serve the pipe with this handle; its first message is the campaign's payload."""
    pipe: Connection = Connection(int(handle))
    gateway(pipe, address, int(lanes) or None, pipe.recv())
