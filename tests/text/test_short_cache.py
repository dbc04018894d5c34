"""Texts of others are cached, but no more of them than memory allows."""

import pytest

from warex.text.short_cache import LONGEST, cached_if_short


@pytest.mark.parametrize(("size", "calls"), [(1, 1), (LONGEST, 1), (LONGEST + 1, 2)])
def test_only_short_texts_are_kept(size: int, calls: int) -> None:
    seen: list[str] = []

    @cached_if_short(maxsize=2)
    def doubled(text: str) -> str:
        seen.append(text)
        return text * 2

    assert doubled("a" * size) == doubled("a" * size) == "a" * 2 * size
    assert len(seen) == calls


def test_a_short_cache_keeps_the_given_number() -> None:
    seen: list[str] = []

    @cached_if_short(maxsize=2)
    def noted(text: str) -> None:
        seen.append(text)

    for text in "abcab":
        noted(text)
    assert seen == ["a", "b", "c", "a", "b"]
