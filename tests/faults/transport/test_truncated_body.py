import pytest
from pydantic import ValidationError

from warex.effects import Truncate
from warex.exchange import Exchange, Request
from warex.faults.transport.truncated_body import TruncatedBody
from warex.seeds import KeyedRng

PAGE = Exchange("1", Request("GET", "https://shop.test/"))


def test_half_of_the_body_comes_unless_another_place_is_given() -> None:
    half, bytes_ = TruncatedBody(), TruncatedBody(after_bytes=10, how="reset")
    assert half.effects(PAGE, {}, KeyedRng(1, "r"))[0] == (Truncate(0.5, "close", "share"),)
    assert bytes_.effects(PAGE, {}, KeyedRng(1, "r"))[0] == (Truncate(10, "reset", "bytes"),)


@pytest.mark.parametrize("share", [0, 1.0, -0.1, float("nan"), True, "0.5"])
def test_an_invalid_share_is_refused_by_name(share: object) -> None:
    with pytest.raises(ValidationError, match="share"):
        TruncatedBody.model_validate({"share": share})


@pytest.mark.parametrize("count", [-1, 0.5, True, "10", 1_000_000_001])
def test_an_unused_number_of_bytes_is_refused_by_name(count: object) -> None:
    with pytest.raises(ValidationError, match="after_bytes"):
        TruncatedBody.model_validate({"after_bytes": count})


def test_two_places_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"after_bytes 10 and share 0\.5 are two places"):
        TruncatedBody(after_bytes=10, share=0.5)
    with pytest.raises(ValidationError, match="both null"):
        TruncatedBody(share=None)


def test_what_the_client_meets_is_reported() -> None:
    assert TruncatedBody(share=0.25, how="clean").explain() == (
        "is handled by the site and then ended in good order after the first 25 % of its body"
    )
