from pathlib import Path

import pytest

from warex.errors import TraceError
from warex.traces.judged_claim import (
    CLAIM,
    JudgedClaim,
    read_judged_claim,
    write_judged_claim,
)


def test_a_judged_claim_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_judged_claim(tmp_path) is None
    write_judged_claim(tmp_path, JudgedClaim(claim="failure", judge="m"))
    assert read_judged_claim(tmp_path) == JudgedClaim(claim="failure", judge="m")


@pytest.mark.parametrize("text", ["", "[]", '{"claim": "maybe", "judge": "m"}'])
def test_a_damaged_file_is_a_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / CLAIM).write_text(text)
    with pytest.raises(TraceError, match=CLAIM):
        read_judged_claim(tmp_path)
