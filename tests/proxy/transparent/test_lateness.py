"""Whoever gave up on a late proxy voids the trial; whoever only tried a port does not."""

import socket
import struct

import pytest

from warex.errors import TrialVoid
from warex.proxy.transparent import lateness

_SO_TIMESTAMPNS = 35


@pytest.mark.parametrize("waited", [None, 0.0, 0.2])
def test_clients_that_stay_or_leave_at_once_are_not_late(
    waited: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lateness, "waited_before_leaving", lambda client: waited)
    with socket.socket() as client:
        lateness.require_patience(client, "a connection")


def test_a_client_that_gave_up_voids_the_trial_with_what_it_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lateness, "waited_before_leaving", lambda client: 1.54)
    with socket.socket() as client, pytest.raises(TrialVoid, match=r"waited 1\.5 s for a lookup"):
        lateness.require_patience(client, "a lookup")


@pytest.mark.parametrize(("age", "late"), [(0.1, False), (1.0, False), (3.0, True)])
def test_a_lookup_that_waited_longer_than_its_client_voids_the_trial(
    age: float, late: bool
) -> None:
    now = 1_800_000_000.5
    arrived = now - age
    stamp = struct.pack("@ll", int(arrived), int(arrived % 1 * 1e9))
    beside = [(socket.SOL_SOCKET, _SO_TIMESTAMPNS, stamp)]
    if not late:
        lateness.require_lookup_in_time(beside, now)
        return
    with pytest.raises(TrialVoid, match="the proxy was late: a lookup waited 3"):
        lateness.require_lookup_in_time(beside, now)


def test_a_lookup_without_a_stamp_is_in_time() -> None:
    lateness.require_lookup_in_time((), 0.0)
