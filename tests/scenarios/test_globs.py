import re

import pytest

from warex.scenarios.globs import glob_to_regex


@pytest.mark.parametrize(
    ("glob", "text", "expected"),
    [
        ("", "", True),
        ("*", "abc", True),
        ("a*c", "abcbc", True),
        ("a**c", "ac", True),
        ("*b*", "abc", True),
        ("a*b*c", "acb", False),
        ("a.c", "abc", False),
        ("a?[b]", "a?[b]", True),
    ],
)
def test_only_the_star_is_special(glob: str, text: str, expected: bool) -> None:
    assert (re.fullmatch(glob_to_regex(glob), text) is not None) is expected


def test_a_star_stays_within_what_it_may_be() -> None:
    assert re.fullmatch(glob_to_regex("a*c", "[^/]"), "a/c") is None


@pytest.mark.timeout(10)
def test_many_stars_take_no_time() -> None:
    pattern = re.compile(glob_to_regex("*a" * 30 + "*b"))

    assert pattern.fullmatch("a" * 100_000) is None
