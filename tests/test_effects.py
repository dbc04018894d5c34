import pytest

from warex.effects import (
    EFFECTS,
    Cut,
    Delay,
    Effect,
    EffectProperties,
    Reply,
    effects_with,
)


def test_a_reply_and_a_cut_end_the_exchange_and_a_delay_does_not() -> None:
    assert Reply(500).traits.is_terminal
    assert Cut("reset").traits.is_terminal
    assert not Delay(1.0).traits.is_terminal


@pytest.mark.parametrize("name", ["dns_error", "refuse", "drop", "certificate"])
def test_what_happens_to_an_attempt_ends_it_without_an_answer(name: str) -> None:
    assert EFFECTS[name].traits.is_terminal
    assert EFFECTS[name].traits.sends_no_response


@pytest.mark.parametrize("kind", EFFECTS.values(), ids=EFFECTS)
def test_the_traits_of_an_effect_do_not_contradict_each_other(kind: type[Effect]) -> None:
    traits = kind.traits

    assert isinstance(traits, EffectProperties)
    assert not (traits.keeps_response and traits.is_terminal)
    assert traits.is_terminal or not traits.sends_no_response
    assert traits.sends_no_response or not traits.opens_no_connection
    assert traits.opens_no_connection or traits.kernel is None
    assert not (traits.rewrites and (traits.keeps_response or traits.is_terminal))


def test_effects_are_found_by_their_traits_under_the_names_of_the_trace() -> None:
    assert effects_with(lambda traits: traits.keeps_response) == {
        "add_stray_line",
        "delay",
        "lose_packets",
        "refuse_http2",
        "reorder_packets",
        "stall",
        "stall_stream",
        "throttle",
        "trickle",
    }
    assert effects_with(lambda traits: traits.opens_no_connection) == {
        "dns_error",
        "refuse",
        "drop",
    }
    assert Delay.name not in effects_with(lambda traits: traits.is_terminal)
