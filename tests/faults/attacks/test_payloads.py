from typing import get_args

from warex.faults.attacks.payloads import payloads
from warex.faults.attacks.prompt_injection import PayloadId


def test_each_payload_has_an_own_id_one_goal_and_a_published_source() -> None:
    assert tuple(it.id for it in payloads()) == get_args(PayloadId.__value__)
    for it in payloads():
        assert it.goal == ("visit" if "{link}" in it.text else "click")
        assert ("{link}" in it.text) != ("{button}" in it.text)
        assert "https://arxiv.org/abs/" in it.source
        assert it.technique
