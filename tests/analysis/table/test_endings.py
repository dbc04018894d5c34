from pathlib import Path

import pytest

from tests.analysis.builders import RunFolder, Story, failed, solved
from warex.analysis.run.load import load_run
from warex.analysis.stats.estimates import Rate
from warex.analysis.table.endings import Endings, endings
from warex.traces import CRASHED_BEFORE_A_FAULT
from warex.traces.outcome import Counted, Void

CRASHED = Counted(ending="harness_crashed", score=0, latency_s=1)
BEFORE = Void(reason=f"{CRASHED_BEFORE_A_FAULT}: out of memory")
OTHERWISE = Void(reason="the proxy was killed")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    folder.manifest()
    return folder


def _calm() -> Story:
    return Story().thinks(1, "goto").page("x1").stops()


def _of(folder: RunFolder) -> tuple[Endings, ...]:
    return endings(load_run(folder.path))


def test_trials_are_counted_by_their_ending(folder: RunFolder) -> None:
    folder.trial("clean", "add", solved(), _calm())
    folder.trial("clean", "move", solved(), _calm())
    folder.trial("clean", "share", failed(), _calm())

    [endings] = _of(folder)

    assert endings.counts == (("answered", 2), ("reported_infeasible", 1))
    assert (endings.crashed, endings.voided) == (0, 0)
    assert endings.success == endings.success_if_void == endings.success_if_zero == Rate(2, 3)


def test_a_crash_after_a_fault_counts_as_a_failure(
    folder: RunFolder,
) -> None:
    folder.trial("server-error", "add", solved(), _calm())
    folder.trial("server-error", "move", CRASHED, _calm())

    [endings] = _of(folder)

    assert (endings.crashed, endings.success, endings.success_if_void) == (
        1,
        Rate(1, 2),
        Rate(1, 1),
    )
    assert endings.success_if_zero == Rate(1, 2)


def test_a_crash_before_any_fault_is_void_and_run_again(
    folder: RunFolder,
) -> None:
    folder.trial("clean", "add", BEFORE, _calm())
    folder.trial("clean", "add", solved(), _calm(), attempt=2)
    folder.trial("clean", "move", BEFORE, _calm())
    folder.trial("clean", "share", OTHERWISE, _calm())
    folder.trial("clean", "share", solved(), _calm(), attempt=2)

    [endings] = _of(folder)

    assert (endings.voided, endings.success, endings.success_if_void) == (2, Rate(2, 2), Rate(2, 2))
    assert endings.success_if_zero == Rate(1, 3)
