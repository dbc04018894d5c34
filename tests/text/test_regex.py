"""Patterns of users: Python's syntax, RE2's speed."""

import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from warex.text.regex import Regex, RegexError

PATTERNS = [
    r"checkout/\d+",
    r"(?i)ÄPFEL|(?i:b)",
    r"^a.*z$",
    r"(?s)a.b",
    r"\w+@\w+",
    r"[\w-]+\s[^\s]",
    r"[\s\S]b",
    r"[^\W\d_]+",
    r"[\D]x",
    r"x{,3}y|z{,}a",
    r"a{2}b{1,2}?",
    r"end\Z|\Astart",
    r"[\[:alpha:]]",
    r"[]a]|[^]b]",
    r"[a\b\]-]",
    r"\u00e9|[\u00e0-\u00ff]|\x41|\N{EM DASH}|\012|\0|[\1]",
    r"\_\é\/\ \-",
    r"(?#a comment)c",
    r"a}+|{b",
    r"\.\*",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=40, deadline=None)
@given(text=st.text("aAbBxyzäÄéE1٣_ \n\t\u2003—\x08\0\x01{}[]:-@.*/"))
def test_a_pattern_means_what_it_means_in_python(pattern: str, text: str) -> None:
    regex = Regex(pattern, multiline=True)
    matches = list(re.compile(pattern, re.MULTILINE).finditer(text))

    assert regex.matches(text) == bool(matches)
    assert (regex.last_match(text) is None) == (not matches)


def test_a_bracket_in_a_class_begins_no_posix_class() -> None:
    assert Regex("[[:alpha:]]").matches("a]")
    assert not Regex("[[:alpha:]]").matches("a")


@settings(max_examples=40)
@given(text=st.text("aä1 =;\n"))
def test_the_last_match_is_pythons(text: str) -> None:
    pattern = r"(?P<name>\w+)=(?P<value>\d*)|(;)"
    matches = list(re.finditer(pattern, text))
    last = Regex(pattern).last_match(text)

    assert (last.groups if last else None) == (matches[-1].groups() if matches else None)


def test_the_last_match_gives_its_groups() -> None:
    last = Regex(r"(?P<name>\w+)=(?P<value>\d+)?;").last_match("a=1;bä=2;ü=;")

    assert last is not None
    assert last.groups == ("ü", None)
    assert last.named == {"name": "ü", "value": ""}
    assert Regex("x").last_match("abc") is None


def test_half_a_surrogate_pair_in_a_text_matches_what_is_around_it() -> None:
    assert Regex("b$").matches("\ud800b")


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a(?=b)", "it looks ahead"),
        ("a(?!b)", "it looks ahead"),
        ("(?<=a)b", "it looks behind"),
        ("(?<!a)b", "it looks behind"),
        (r"(a)\1", r"it refers back to a group, \1"),
        ("(?P<x>a)(?P=x)", "it refers back to a group"),
        ("(a)?(?(1)b|c)", "it depends on a group"),
        ("(?>a)", "atomic group"),
        ("a++", "possessive"),
        ("a{2}+", "possessive"),
        ("(?x) a", "RE2 says: invalid perl operator: (?x"),
        ("a{2000}", "RE2 says: invalid repetition size: {2000}"),
        (r"(\w{0,100}x){0,8}$", "RE2 says: pattern too large"),
    ],
)
def test_what_cannot_be_matched_in_linear_time_is_refused_with_the_reason(
    pattern: str, why: str
) -> None:
    with pytest.raises(RegexError, match=re.escape(why)) as refused:
        Regex(pattern)

    assert f"`{pattern}`" in str(refused.value)
    assert "Write it without" in str(refused.value)


@pytest.mark.parametrize("pattern", ["(", "[a-", "*", "(" * 5000, r"\p{L}", "a{3,1}", "(?<n>a)"])
def test_what_is_not_a_regular_expression_is_refused_in_a_short_sentence(pattern: str) -> None:
    with pytest.raises(RegexError, match="is not a regular expression") as refused:
        Regex(pattern)

    assert len(str(refused.value)) < 400


@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a+)+$", "a" * 1_000_000 + "!"),
        (r"(\w+\s?)*$", "abc " * 250_000 + "!"),
        ("(.*a){20}b", "a" * 1_000_000),
        (r"(x|x\w)*y", "x" * 1_000_000),
    ],
)
def test_a_long_text_takes_no_time(pattern: str, text: str) -> None:
    regex = Regex(pattern)

    regex.matches(text)


def test_re2_is_loaded_only_where_a_pattern_exists() -> None:
    imported = "warex.scenarios.matching.url_patterns, warex.lane.config"
    seen = f"import sys, {imported}; print('re2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
