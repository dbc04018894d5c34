from typing import Any

import pytest

from warex.benchmarks.scoring.json_path import parse_path, resolve_path

DOCUMENT: Any = {"a": {"b": [{"c": 1}, {"c": 2}]}, "k.d": {"e f": 3}, "list": [4, 5]}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b[1].c", 2),
        ("list[-1]", 5),
        ('["k.d"]["e f"]', 3),
        ("['k.d'].e f", 3),
        ("list", [4, 5]),
    ],
)
def test_a_json_path_gives_its_value(path: str, value: object) -> None:
    assert resolve_path(DOCUMENT, path) == value


@pytest.mark.parametrize("path", ["", ".a", "a..b", "a[", "a[x]", "a]b"])
def test_what_is_not_a_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="path into JSON"):
        parse_path(path)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("a.x", "no 'x' there, since 'a' holds b"),
        ("list[7]", "'list' is a list of 2"),
        ("list.x", "'list' is a list of 2"),
        ("a.b[0].c.d", "'c' is 1"),
        ("z", "the document holds a, k.d, list"),
    ],
)
def test_a_path_to_nothing_says_what_is_there_instead(path: str, why: str) -> None:
    with pytest.raises(LookupError, match=why.replace("[", r"\[")):
        resolve_path(DOCUMENT, path)
