from collections import Counter
from pathlib import Path

import pytest

from warex_testbed.sites.forum import brands
from warex_testbed.sites.forum.brands import BRANDS, load
from warex_testbed.sites.forum.listing import SORTS

FOLDER = Path(brands.__file__).parent


@pytest.mark.parametrize("host", BRANDS)
def test_every_brand_has_its_files_and_known_orders(host: str) -> None:
    brand = load(host)
    assert (FOLDER / "static" / f"{brand.slug}.svg").exists()
    assert (FOLDER / "static" / f"{brand.layout}.css").exists()
    assert set(brand.sorts) <= set(SORTS)
    assert {"top", "unanswered"} <= set(brand.sorts)
    assert set(brand.orders) <= {"time", "best", "new"}


def test_every_brand_says_everything() -> None:
    first, *others = [load(host) for host in BRANDS]
    for other in others:
        assert set(first.words) ^ set(other.words) == set()


def test_no_two_brands_look_or_work_alike() -> None:
    loaded = [load(host) for host in BRANDS]
    assert len({brand.layout for brand in loaded}) == len(loaded)
    assert {brand.transport for brand in loaded} == {"form", "fetch"}
    for key in ("topic", "new", "person"):
        assert len({brand.url(key) for brand in loaded}) == len(loaded)


@pytest.mark.parametrize(
    "word", ["post_reply", "up", "save", "follow", "new_topic", "messages", "digest", "your_reply"]
)
def test_what_an_agent_looks_for_is_called_something_else_on_each_brand(word: str) -> None:
    counts = Counter(load(host).words[word] for host in BRANDS)
    assert max(counts.values()) == 1
