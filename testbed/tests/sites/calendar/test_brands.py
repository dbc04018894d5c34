from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from warex_testbed.sites.calendar.brands import HOSTS, brand_of

BRANDS = {host: brand_of(host) for host in HOSTS}
FIRST = BRANDS["calendar.warex.test"]
OTHERS = [host for host in HOSTS if BRANDS[host] is not FIRST]


def leaves(words: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, str]]:
    for key, value in words.items():
        if isinstance(value, str):
            yield f"{place}{key}", value
        else:
            yield from leaves(value, f"{place}{key}.")


@pytest.mark.parametrize("host", OTHERS)
def test_every_brand_says_the_same_things_in_other_words(host: str) -> None:
    first, other = dict(leaves(FIRST.words)), dict(leaves(BRANDS[host].words))
    assert first.keys() == other.keys()
    same = {key for key in first if first[key].casefold() == other[key].casefold()}
    # An agent that learned Daybook's buttons by heart must look again.
    assert same <= {"period.label"}


def test_every_brand_has_an_owner_calendars_and_dates_of_its_own() -> None:
    for value in ("name", "owner", "accent", "typed", "days"):
        assert len({getattr(brand, value) for brand in BRANDS.values()}) == len(HOSTS)
    names = [name for brand in BRANDS.values() for name in brand.calendars]
    assert len(names) == len(set(names))
    assert len({brand.settings.view for brand in BRANDS.values()}) == len(HOSTS)
