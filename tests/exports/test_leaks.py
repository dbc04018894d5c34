import pytest

from tests.exports.builders import failure, row
from warex.errors import InputError
from warex.exports.leaks import leaks, require_no_leaks
from warex.exports.names import Side
from warex.exports.rows import Row

PAGE = " ".join(f"word{chr(97 + at % 26)}{chr(97 + at // 26)}" for at in range(200))


def shows(name: str, text: str, **changes: object) -> Row:
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "click('1')"}]
    return row(name, site=f"{name}.example", messages=messages, **changes)


@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("site", {"site": "shop.example"}),
        ("task", {"task": "task-a"}),
        ("page_family", {"page_family": "nginx"}),
    ],
)
def test_a_row_on_two_sides_is_a_leak(what: str, other: dict[str, str]) -> None:
    train = failure("a")
    apart = {"site": "x.example", "task": "t", "page_family": "iis"}
    messages = [{"role": "user", "content": PAGE}, {"role": "assistant", "content": "reload()"}]
    test = failure("b", messages=messages, **{**apart, **other})

    assert [it.what for it in leaks({"train": [train], "test": [test]})] == [what]


def test_every_family_of_error_pages_on_two_sides_is_named() -> None:
    one, *other = (
        failure(f"{side}-{family}", page_family=family)
        for side, family in (("a", "nginx"), ("b", "nginx"), ("a", "iis"), ("b", "iis"))
    )
    sides: dict[Side, list[Row]] = {"train": [one, other[1]], "test": [other[0], other[2]]}

    results = [it.shown for it in leaks(sides) if it.what == "page_family"]

    assert results == ["iis", "nginx"]


def test_observations_that_differ_only_in_numbers_are_a_leak() -> None:
    one, other = shows("a", f"{PAGE} 12:30"), shows("b", f"{PAGE} 14:45")
    far = shows("c", " ".join(reversed(PAGE.split())))

    assert [it.what for it in leaks({"train": [one], "test": [other]})] == ["observation"]
    assert not list(leaks({"train": [one], "test": [far]}))


def test_a_leak_is_refused_with_what_helps_unless_it_is_accepted() -> None:
    sides: dict[Side, list[Row]] = {
        "train": [shows("a", PAGE)],
        "validation": [shows("b", "other words", task="task-a")],
    }

    with pytest.raises(InputError, match=r"the task task-a is in train and in validation.*"):
        require_no_leaks(sides)
    assert [it.what for it in require_no_leaks(sides, ["task"])] == ["task"]


def test_a_side_that_is_empty_leaks_nothing() -> None:
    assert require_no_leaks({"train": [row()], "test": []}) == ()
