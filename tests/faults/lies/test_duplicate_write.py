import pytest
from pydantic import ValidationError

from warex.effects import DuplicateRequest
from warex.exchange import Exchange, Request
from warex.faults.lies.duplicate_write import DuplicateWrite
from warex.seeds import KeyedRng

ASKED = Exchange("1", Request("POST", "https://shop.test/order"))


def test_the_request_is_sent_twice() -> None:
    assert DuplicateWrite().effects(ASKED, {"a": 1}, KeyedRng(1, "r")) == (
        (DuplicateRequest(),),
        {"a": 1},
    )


def test_the_fault_is_applied_before_the_sites_answer() -> None:
    with pytest.raises(ValidationError, match="stage"):
        DuplicateWrite.model_validate({"stage": "response"})
