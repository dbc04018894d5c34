from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.seeds import KeyedRng, derive_seed, draw

PARTS = st.lists(st.text(st.characters()), max_size=4)


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ((0,), 0.3214364412611488),
        ((1, "shop-down", 1), 0.20597129232389588),
        ((1, "shop-down", "GET", "https://shop.example/", 1), 0.18604502432749004),
        ((2, "shop-down", "GET", "https://shop.example/", 1), 0.3387803551954863),
        ((-7, "päge", "\x1f", 10**20), 0.8176579738021398),
    ],
)
def test_a_draw_is_the_same_in_every_version(
    about: tuple[int, *tuple[str | int, ...]], expected: float
) -> None:
    assert draw(*about) == expected


def test_a_derived_seed_is_the_same_in_every_version() -> None:
    assert derive_seed(1, "testbed", "add-event", 1) == 4034110759
    assert derive_seed(2, "testbed", "add-event", 1) == 1054809838


@given(st.integers(), PARTS)
def test_a_draw_is_at_least_0_and_below_1(seed: int, about: list[str]) -> None:
    assert 0 <= draw(seed, *about) < 1
    assert 0 <= derive_seed(seed, *about) < 2**32


@given(st.integers(), PARTS, PARTS)
def test_different_things_are_drawn_for_differently(
    seed: int, one: list[str], other: list[str]
) -> None:
    assert (draw(seed, *one) == draw(seed, *other)) == (one == other)


def test_what_is_drawn_about_is_not_run_together() -> None:
    assert draw(1, "ab", "c") != draw(1, "a", "bc") != draw(1, "a", "b", "c")
    assert draw(1, "a\x1fb") != draw(1, "a", "b")


def test_two_seeds_differ() -> None:
    assert len({draw(seed, "rule", 1) for seed in range(1000)}) == 1000


def test_a_url_that_is_not_utf_8_can_be_drawn_about() -> None:
    assert draw(1, "https://shop.test/caf\udce9") != draw(1, "https://shop.test/caf\udcea")


def test_a_faults_luck_is_not_the_rules() -> None:
    assert KeyedRng(1, "rule").draw(1) != draw(1, "rule", 1)
    assert (
        KeyedRng(1, "rule").draw(1) != KeyedRng(2, "rule").draw(1) != KeyedRng(1, "other").draw(1)
    )


def test_a_choice_is_the_same_each_time() -> None:
    rng = KeyedRng(1, "rule")

    assert {rng.choice("abc", "page") for _ in range(5)} == {"b"}


def test_each_option_is_as_likely() -> None:
    rng = KeyedRng(1, "rule")

    result = Counter(rng.choice("abcdefg", number) for number in range(7000))

    # Chi-squared with 6 degrees of freedom is below 22.5 in 99.9 % of all cases.
    assert sum((result[option] - 1000) ** 2 / 1000 for option in "abcdefg") < 22.5


def test_there_is_no_choice_among_nothing() -> None:
    with pytest.raises(IndexError):
        KeyedRng(1, "rule").choice([])
