import pytest

from warex.effects import Reply
from warex.exchange import Exchange, Request
from warex.faults import FaultState
from warex.faults.walls.rate_limit import RateLimit
from warex.seeds import KeyedRng

LUCK = KeyedRng(1, "rule")


def page(at: float = 0.0) -> Exchange:
    return Exchange("1", Request("GET", "https://shop.test/a"), at=at)


def refused(fault: RateLimit, at: float, state: FaultState) -> tuple[Reply, FaultState]:
    (reply,), state = fault.effects(page(at), state, LUCK)
    assert isinstance(reply, Reply)
    assert reply.status == 429
    return reply, state


def test_retry_after_is_the_rest_of_the_window() -> None:
    first, state = refused(RateLimit(), 10.0, {})
    later, _ = refused(RateLimit(), 30.5, state)

    assert (first.headers["retry-after"], later.headers["retry-after"]) == ("30", "10")


def test_refusals_end_with_the_window() -> None:
    fault = RateLimit(window=20)
    assert not fault.still_applies(page(), {})
    _, state = refused(fault, 10.0, {})

    assert [fault.still_applies(page(at), state) for at in (10, 29.9, 30, 31)] == [
        True,
        True,
        False,
        False,
    ]


def test_what_is_hit_after_the_window_begins_another() -> None:
    _, state = refused(RateLimit(), 0.0, {})
    reply, state = refused(RateLimit(), 100.0, state)

    assert reply.headers["retry-after"] == "30"
    assert RateLimit().still_applies(page(120), state)


@pytest.mark.parametrize(
    ("fields", "reported"),
    [
        (
            "ratelimit",
            {"ratelimit-policy": '"default";q=60;w=30', "ratelimit": '"default";r=0;t=30'},
        ),
        (
            "ratelimit_three",
            {"ratelimit-limit": "60", "ratelimit-remaining": "0", "ratelimit-reset": "30"},
        ),
        (
            "x_ratelimit",
            {"x-ratelimit-limit": "60", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "30"},
        ),
        ("none", {}),
    ],
)
def test_the_quota_is_reported_in_the_fields_that_are_asked_for(
    fields: str, reported: dict[str, str]
) -> None:
    reply, _ = refused(RateLimit.model_validate({"fields": fields}), 0.0, {})

    assert {name: value for name, value in reply.headers.items() if "ratelimit" in name} == reported


def test_retry_after_can_be_left_out() -> None:
    reply, _ = refused(RateLimit(retry_after=False, fields="none"), 0.0, {})

    assert "retry-after" not in reply.headers
