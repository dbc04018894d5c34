import tracemalloc

from warex.hash_counter import HashCounter


def test_counts_are_given_per_text_and_in_total() -> None:
    counts = HashCounter()
    for number in range(3000):
        counts[f"GET https://a/{number}"] += number % 7
    counts["\udcff"] = 2
    assert [counts[f"GET https://a/{number}"] for number in (0, 5, 2999)] == [0, 5, 3]
    assert (counts["\udcff"], counts["never set"], len(counts)) == (2, 0, 3001)
    assert counts.total() == sum(number % 7 for number in range(3000)) + 2


def test_many_texts_take_little_room() -> None:
    counts = HashCounter()
    tracemalloc.start()
    try:
        for number in range(20_000):
            counts.add(f"GET https://shop.example/products?page={number}", 1)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert taken < 20_000 * 20
