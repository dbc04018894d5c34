"""The cases of one test."""

import pytest

from tests.cases import every


def test_every_case_runs_and_each_failure_carries_its_own(tmp_path_factory: object) -> None:
    seen = []

    @every("number", [1, 2, 3])
    @every("word, length", [("a", 1), ("bcd", 3)])
    def check(number: int, word: str, length: int, tmp_path_factory: object) -> None:
        seen.append((number, word))
        assert number != 2
        with pytest.raises(ValueError, match="invalid literal"):
            int(word if length == 1 else "5")

    with pytest.raises(BaseExceptionGroup, match="3 of 3 cases fail") as caught:
        check(tmp_path_factory=tmp_path_factory)
    assert seen == [(number, word) for number in (1, 2, 3) for word in ("a", "bcd")]
    assert [it.__notes__ for it in caught.value.exceptions] == [
        [f"The case: {{'number': {number}}}"] for number in (1, 2, 3)
    ]
    assert [str(it) for it in caught.value.exceptions] == [
        f"{count} of 2 cases fail ({count} sub-exception{'s'[: count - 1]})" for count in (1, 2, 1)
    ]


@every("number", range(3))
def test_fixtures_are_the_test_s_own(number: int, tmp_path: object) -> None:
    assert tmp_path
    assert number < 3
