from pathlib import Path

import pytest

from warex.campaigns.run.redaction_key import redaction_key
from warex.errors import MachineError
from warex.proxy.certificates.ca import CertificateAuthority, ensure_ca


@pytest.mark.wire
def test_a_key_is_that_of_one_run_and_one_user(tmp_path: Path) -> None:
    mine, other = ensure_ca(tmp_path / "mine"), ensure_ca(tmp_path / "other")
    begun, later = "2026-11-26T10:00:00.000Z", "2026-11-26T10:00:00.001Z"

    assert redaction_key(mine, begun) == redaction_key(mine, begun)
    assert len({redaction_key(ca, at) for ca in (mine, other) for at in (begun, later)}) == 4


def test_a_ca_whose_key_cannot_be_read_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="cannot be read"):
        redaction_key(CertificateAuthority(tmp_path), "2026-11-26T10:00:00.000Z")
