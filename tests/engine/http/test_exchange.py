"""What may follow what, in an exchange."""

import pytest

from warex.engine.http.exchange import (
    DONE,
    FAILED,
    SWITCHED,
    ExchangeState,
    OutOfOrder,
    Step,
)


def test_a_response_may_end_before_its_request() -> None:
    state = ExchangeState()
    state.request_step(Step.HEAD)
    for step in (Step.INFORMATIONAL, Step.HEAD, Step.DATA, Step.END):
        state.response_step(step)
    assert not state.is_over
    state.request_step(Step.END)
    assert state.is_over


def test_a_switch_ends_http_both_ways() -> None:
    state = ExchangeState()
    state.request_step(Step.HEAD)
    state.request_step(Step.END)
    state.response_step(Step.SWITCH)
    assert (state.request, state.response) == (SWITCHED, SWITCHED)
    state.request_step(Step.DATA)
    state.response_step(Step.DATA)


def test_what_is_complete_stays_so_when_the_exchange_fails() -> None:
    state = ExchangeState()
    state.request_step(Step.HEAD)
    state.request_step(Step.END)
    state.fail()
    assert (state.request, state.response, state.is_over) == (DONE, FAILED, True)


@pytest.mark.parametrize(
    "steps",
    [
        [Step.DATA],
        [Step.HEAD, Step.HEAD],
        [Step.HEAD, Step.INFORMATIONAL],
        [Step.HEAD, Step.END, Step.DATA],
        [Step.HEAD, Step.SWITCH],
        [Step.SWITCH, Step.HEAD],
    ],
)
def test_out_of_order_is_a_mistake_of_the_sender(steps: list[Step]) -> None:
    state = ExchangeState()
    state.request_step(Step.HEAD)
    for step in steps[:-1]:
        state.response_step(step)
    with pytest.raises(OutOfOrder):
        state.response_step(steps[-1])


def test_nothing_is_answered_before_it_is_asked() -> None:
    with pytest.raises(OutOfOrder):
        ExchangeState().response_step(Step.HEAD)
