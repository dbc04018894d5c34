import pytest

from warex.effects import (
    EFFECTS,
    Cut,
    Delay,
    Effect,
    EffectProperties,
    Reply,
    effect_name,
    effects_with,
)


def test_a_reply_and_a_cut_end_the_exchange_and_a_delay_does_not() -> None:
    assert Reply(500).traits.ends
    assert Cut("reset").traits.ends
    assert not Delay(1.0).traits.ends


@pytest.mark.parametrize("name", ["unresolved", "refuse", "drop", "certificate"])
def test_what_happens_to_an_attempt_ends_it_without_an_answer(name: str) -> None:
    assert EFFECTS[name].traits.ends
    assert EFFECTS[name].traits.cuts


@pytest.mark.parametrize("kind", EFFECTS.values(), ids=EFFECTS)
def test_the_traits_of_an_effect_do_not_contradict_each_other(kind: type[Effect]) -> None:
    traits = kind.traits

    assert isinstance(traits, EffectProperties)
    assert not (traits.keeps_answer and traits.ends)
    assert traits.ends or not traits.cuts
    assert traits.cuts or not traits.unreachable
    assert traits.unreachable or traits.kernel is None
    assert not (traits.rewrites and (traits.keeps_answer or traits.ends))


def test_effects_are_found_by_their_traits_under_the_names_of_the_trace() -> None:
    assert effects_with(lambda traits: traits.keeps_answer) == {"delay", "trickle"}
    assert effects_with(lambda traits: traits.unreachable) == {"unresolved", "refuse", "drop"}
    assert effect_name(Delay(1.0)) not in effects_with(lambda traits: traits.ends)
