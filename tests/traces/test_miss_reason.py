import msgspec
import pytest

from warex.traces.events import FaultMissed


def test_a_reason_that_there_is_not_is_refused() -> None:
    missed = {"event": "fault_missed", "rule": "r", "reason": "superseded"}

    assert msgspec.convert(missed, FaultMissed).reason == "superseded"
    with pytest.raises(msgspec.ValidationError, match="reason"):
        msgspec.convert({**missed, "reason": "tired"}, FaultMissed)
