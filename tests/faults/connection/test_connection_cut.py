import pytest
from pydantic import ValidationError

from warex.effects import Cut, Delay, Truncate
from warex.exchange import Exchange, Request
from warex.faults.connection.connection_cut import ConnectionCut
from warex.seeds import KeyedRng

EXCHANGE = Exchange("1", Request("POST", "https://shop.test/checkout"))
LUCK = KeyedRng(1, "cut")


def test_the_connection_is_reset_at_once() -> None:
    effects, _ = ConnectionCut().effects(EXCHANGE, {}, LUCK)

    assert effects == (Cut("reset"),)


def test_a_cut_can_be_orderly_and_delayed() -> None:
    effects, _ = ConnectionCut(how="close", delay=1.5).effects(EXCHANGE, {}, LUCK)

    assert effects == (Delay(1.5), Cut("close"))


def test_a_cut_comes_after_bytes_of_body_or_head() -> None:
    body, head = ConnectionCut(after_bytes=9), ConnectionCut(after_bytes=9, part="head")

    assert (body.stage, body.part) == ("response", "body")
    assert body.effects(EXCHANGE, {}, LUCK)[0] == (Truncate(9, "reset", "bytes"),)
    assert head.effects(EXCHANGE, {}, LUCK)[0] == (Cut("reset", 9),)
    assert head.explain() == (
        "is handled by the site and then cut off after 9 bytes of its head (a TCP reset)"
    )


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"after_bytes": 9, "stage": "request"}, "which cannot exist at stage request"),
        ({"part": "head"}, "part head counts nothing"),
        ({"after_bytes": 9, "part": None}, "part null"),
        ({"after_bytes": -1}, "after_bytes"),
    ],
)
def test_bytes_of_no_answer_are_refused(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        ConnectionCut.model_validate(fields)


def test_an_unknown_way_is_refused_by_name() -> None:
    with pytest.raises(ValidationError, match="how"):
        ConnectionCut.model_validate({"how": "politely"})


def test_the_explanation_has_the_faults_values() -> None:
    assert ConnectionCut(delay=2).explain() == (
        "is held for 2 s and then cut off without an answer (a TCP reset)"
    )
    assert ConnectionCut(how="close", stage="response").explain() == (
        "is handled by the site and then cut off without an answer (an orderly close)"
    )
