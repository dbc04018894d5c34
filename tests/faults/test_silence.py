"""A silence and what follows it go together, whichever answer falls silent."""

from math import inf

import pytest
from pydantic import ValidationError

from warex.faults.llm.llm_stall import LlmStall
from warex.faults.silence import SilentFault
from warex.faults.transport.stalled_body import StalledBody

KINDS: tuple[type[SilentFault], ...] = (LlmStall, StalledBody)


def test_only_a_silence_without_an_end_has_no_seconds() -> None:
    for kind in KINDS:
        endless = kind.model_validate({"then": "never"})
        assert (endless.silence_s, endless.end, endless.is_endless) == (inf, "close", True)
        for inputs in ({"then": "never", "stall": 3}, {"then": "close", "stall": None}):
            with pytest.raises(ValidationError, match="do not go together"):
                kind.model_validate(inputs)
        with pytest.raises(ValidationError, match="stall 0 is not silence"):
            kind.model_validate({"stall": 0})


def test_what_follows_is_reported() -> None:
    for kind in KINDS:
        instance = [kind.model_validate({"then": it}).follows for it in ("go_on", "close", "reset")]
        assert instance == [
            "then goes on",
            "then is cut off (an orderly close)",
            "then is cut off (a TCP reset)",
        ]
