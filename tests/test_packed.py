"""Much is kept in little room, and comes back as it went in."""

import tracemalloc
from collections import Counter

import pytest

from warex.packed import CompressedCounter, CompressedList, HashCounter


@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025, 5000])
def test_what_was_appended_comes_back_in_its_order(count: int) -> None:
    packed: CompressedList[tuple[int, str]] = CompressedList()
    for number in range(count):
        packed.append((number, "x"))
    assert list(packed) == [(number, "x") for number in range(count)]
    assert len(packed) == count


def test_a_tally_loses_no_count() -> None:
    tally: CompressedCounter[str] = CompressedCounter()
    items = [f"/{number % 3000}" for number in range(10_000)]
    for item in items:
        tally.add(item)
    summed: Counter[str] = Counter()
    for item, number in tally.parts():
        summed[item] += number
    assert summed == Counter(items)


def test_many_items_take_little_room() -> None:
    tally: CompressedCounter[tuple[str, str]] = CompressedCounter()
    tracemalloc.start()
    try:
        for number in range(50_000):
            tally.add(("GET", f"https://shop.example/products?page={number}"))
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 2_000_000


def test_counts_are_told_of_each_text_and_of_all() -> None:
    counts = HashCounter()
    for number in range(3000):
        counts[f"GET https://a/{number}"] += number % 7
    counts["\udcff"] = 2
    assert [counts[f"GET https://a/{number}"] for number in (0, 5, 2999)] == [0, 5, 3]
    assert (counts["\udcff"], counts["never set"], len(counts)) == (2, 0, 3001)
    assert counts.total() == sum(number % 7 for number in range(3000)) + 2
