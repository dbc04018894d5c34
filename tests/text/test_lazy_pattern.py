import re

import pytest

from warex.text.lazy_pattern import lazy_re


def test_a_pattern_does_what_a_compiled_one_does() -> None:
    pattern = lazy_re("(a)B", re.IGNORECASE)

    assert [matches.group(1) for matches in pattern.finditer("xab AB")] == ["a", "A"]
    assert pattern.fullmatch("ab") is not None
    assert pattern.sub("c", "ab") == "c"
    assert pattern.pattern == "(a)B"
    assert lazy_re(rb"\d").match(b"1") is not None


def test_a_pattern_is_compiled_at_its_first_use_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = list[str]()

    def compile_(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return original(pattern, flags)

    original = re.compile
    monkeypatch.setattr(re, "compile", compile_)
    pattern = lazy_re("a+")

    assert compiled == []
    assert pattern.match("a")
    assert pattern.search("ba")
    assert pattern.match("a")
    assert compiled == ["a+"]


def test_a_mistake_in_a_pattern_shows_at_its_first_use() -> None:
    with pytest.raises(re.error):
        lazy_re("(").match("")
