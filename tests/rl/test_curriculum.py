"""The plan of a group, its advantages, and the intensity that follows the gap."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.errors import InputError
from warex.rl import Curriculum, EpisodePlan, ScoredEpisode, advantages

CLEAN, FAULTED = EpisodePlan(is_faulted=False), EpisodePlan(is_faulted=True)


def scored(plan: EpisodePlan, *rewards: float | None) -> list[ScoredEpisode]:
    return [ScoredEpisode(plan, reward) for reward in rewards]


@given(st.integers(1, 200), st.floats(0, 1))
def test_every_prefix_of_a_group_has_the_curriculums_faulted_share(size: int, share: float) -> None:
    plans = [Curriculum(share=share).plan(place) for place in range(size)]
    assert abs(sum(it.is_faulted for it in plans) - share * size) < 1 + 1e-9


def test_clean_and_faulted_episodes_have_baselines_of_their_own() -> None:
    group = [*scored(CLEAN, 1.0, 1.0, 0.0, 0.0), *scored(FAULTED, 1.0, 0.0, 0.0, 0.0)]
    plain = advantages(group, normalised=False)
    assert plain == [0.5, 0.5, -0.5, -0.5, 0.75, -0.25, -0.25, -0.25]
    assert advantages(group)[:4] == [1.0, 1.0, -1.0, -1.0]


def test_an_unscorable_episode_has_no_advantage_and_is_in_no_baseline() -> None:
    group = scored(FAULTED, 1.0, None, 0.0)
    assert advantages(group, normalised=False) == [0.5, None, -0.5]
    assert advantages(scored(CLEAN, None)) == [None]


def test_equal_rewards_have_no_advantage() -> None:
    assert advantages(scored(CLEAN, 1.0, 1.0)) == [0.0, 0.0]


def after(curriculum: Curriculum, episodes: list[ScoredEpisode]) -> Curriculum:
    for episode in episodes:
        curriculum = curriculum.observed(episode)
    return curriculum


def test_intensity_rises_when_the_gap_closes_up_to_the_maximum() -> None:
    start = Curriculum(window=2, factor=2, most=3)
    faulted = EpisodePlan(is_faulted=True, intensity=1.0)
    apart = after(start, [*scored(CLEAN, 1.0, 1.0), *scored(faulted, 0.0, 1.0)])
    assert (apart.intensity, apart.measured_gap) == (1.0, 0.5)
    closed = after(apart, scored(faulted, 1.0))
    assert (closed.intensity, closed.faulted, closed.measured_gap) == (2.0, (), None)
    late = after(closed, scored(faulted, 1.0))
    assert late == closed, "a reward at the old intensity says nothing about the new"
    stronger = closed.plan(1)
    top = after(closed, scored(stronger, 1.0, 1.0))
    assert top.intensity == 3
    assert after(top, scored(top.plan(1), 1.0, 1.0)).intensity == 3


def test_an_unscorable_episode_moves_no_curriculum() -> None:
    start = Curriculum(window=1)
    assert after(start, [*scored(CLEAN, None), *scored(FAULTED, float("nan"))]) == start


@pytest.mark.parametrize(
    ("options", "named"),
    [({"share": 1.5}, "share=1.5"), ({"window": 0}, "window=0"), ({"most": 0.5}, "most=0.5")],
)
def test_an_option_out_of_range_is_named(options: dict[str, float], named: str) -> None:
    with pytest.raises(InputError, match=named):
        Curriculum(**options)  # type: ignore[arg-type]
