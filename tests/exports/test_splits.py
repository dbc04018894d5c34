from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exports.builders import failure, row
from warex.errors import InputError
from warex.exports.names import SIDES
from warex.exports.rows import Row
from warex.exports.splits import SplitPlan, sides_without_failures, split_rows

SITES = [f"s{number}.example" for number in range(11)]


def rows(sites: list[str], families: tuple[str, ...] = ("nginx", "iis", "rails")) -> list[Row]:
    rows = [row(f"c-{site}", site=site) for site in sites]
    return rows + [
        failure(f"f-{site}-{family}", site=site, page_family=family)
        for site in sites
        for family in families
    ]


def test_eleven_sites_are_nine_for_training_and_one_each_held_out() -> None:
    division = split_rows(rows(SITES), SplitPlan(by=("site",)))

    assert [len({it.site for it in division.sides[side]}) for side in SIDES] == [9, 1, 1]
    assert division.between == 0


@given(st.integers(0, 1000), st.integers(3, 30))
def test_no_site_or_page_family_is_on_two_sides(seed: int, number: int) -> None:
    given_rows = rows([f"s{at}.example" for at in range(number)])

    division = split_rows(given_rows, SplitPlan(seed=seed, shares=(1, 1, 1)))

    for what in ("site", "page_family"):
        pending = [{getattr(it, what) for it in division.sides[side]} - {""} for side in SIDES]
        assert [one & other for one, other in combinations(pending, 2)] == [set()] * 3
    assert sum(map(len, division.sides.values())) + division.between == len(given_rows)


def test_what_is_named_is_held_out_and_the_rest_trained_on() -> None:
    plan = SplitPlan(by=("site",), held_out={"test": {"site": ("s1*",)}})

    division = split_rows(rows(SITES), plan)

    assert {it.site for it in division.sides["test"]} == {"s1.example", "s10.example"}
    assert len({it.site for it in division.sides["train"]}) == 9
    assert not division.sides["validation"]


def test_a_held_out_site_with_a_trained_page_belongs_to_no_side() -> None:
    pending = {"test": {"site": ("s1.example",), "page_family": ("iis",)}}

    division = split_rows(rows(SITES), SplitPlan(held_out=pending))  # type: ignore[arg-type]

    assert {it.id for it in division.sides["test"]} == {"c-s1.example", "f-s1.example-iis"}
    assert division.between == 2 + 10


def test_one_seed_gives_one_split() -> None:
    assert split_rows(rows(SITES), SplitPlan(seed=3)) == split_rows(rows(SITES), SplitPlan(seed=3))
    assert split_rows(rows(SITES), SplitPlan(seed=3)) != split_rows(rows(SITES), SplitPlan(seed=4))


def test_too_few_names_and_unknown_ones_are_reported() -> None:
    with pytest.raises(InputError, match=r"--split site: there is only s0\.example, and 3 sides"):
        split_rows(rows(SITES[:1]), SplitPlan(by=("site",)))
    with pytest.raises(InputError, match=r"--test site=nope: there is no such site; there are: s0"):
        split_rows(rows(SITES), SplitPlan(by=("site",), held_out={"test": {"site": ("nope",)}}))
    with pytest.raises(InputError, match="--split fault: no step has a fault"):
        split_rows([row()], SplitPlan(by=("fault",)))


def test_a_side_without_failures_is_warned_of_with_names_that_have_some() -> None:
    every = [*rows(SITES[:2]), row("c", site="s9.example")]
    plan = SplitPlan(by=("site",), held_out={"test": {"site": ("s9.example",)}})

    (warning,) = sides_without_failures(split_rows(every, plan).sides, every, plan)

    assert warning.startswith("test has no failure")
    assert warning.endswith("such as --test site=s0.example")
    clean = [it for it in every if it.kind == "clean"]
    assert sides_without_failures(split_rows(clean, plan).sides, clean, plan) == []
