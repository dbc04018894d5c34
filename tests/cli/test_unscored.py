"""What a proxy outside a campaign leaves behind."""

from pathlib import Path

import pytest

from warex.cli.unscored import leave_outcome
from warex.errors import MachineError
from warex.traces import Unscored, Void, read_outcome

ENDED = Unscored(ending="answered", latency_s=1.5)


def test_what_ended_in_good_order_is_unscored(tmp_path: Path) -> None:
    leave_outcome(tmp_path, None, ENDED)

    assert read_outcome(tmp_path) == ENDED


def test_a_broken_proxy_makes_it_void_whatever_the_command_did(tmp_path: Path) -> None:
    leave_outcome(tmp_path, "the disk is full", ENDED)

    assert read_outcome(tmp_path) == Void(reason="the disk is full")


def test_without_a_folder_there_is_nothing_to_leave() -> None:
    leave_outcome(None, None, ENDED)


def test_a_folder_that_refuses_is_said_unless_the_trial_is_void_anyway(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    no_folder = tmp_path / "file" / "trial"

    leave_outcome(no_folder, "the disk is full", ENDED)
    with pytest.raises(MachineError):
        leave_outcome(no_folder, None, ENDED)
