from datetime import timedelta

import pytest

from warex_testbed.sites.forum.model import NOW
from warex_testbed.sites.forum.moments import ago, full


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (timedelta(), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(hours=3), "3 hours ago"),
        (timedelta(hours=11), "yesterday"),
        (timedelta(days=3), "3 days ago"),
        (timedelta(days=40), "1 May"),
        (timedelta(days=365), "10 June 2025"),
    ],
)
def test_a_moment_is_stated_relative_to_the_sites_present(span: timedelta, expected: str) -> None:
    assert ago(NOW - span) == expected


def test_the_whole_moment_has_day_and_time() -> None:
    assert full(NOW) == "10 June 2026, 10:40"
