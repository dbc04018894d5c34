from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from warex.errors import InputError
from warex.text.arguments import checks_arguments, made_by, read_path, read_texts


@checks_arguments
def go(first: int, second: str = "b", *, third: float | None = None) -> tuple[object, ...]:
    """Go."""
    return first, second, third


def test_a_call_that_fits_is_made() -> None:
    assert go(1) == (1, "b", None)
    assert go(1, second="c", third=2.5) == (1, "c", 2.5)
    assert (go.__name__, go.__doc__) == ("go", "Go.")


@pytest.mark.parametrize(
    ("args", "kwargs", "sentence"),
    [
        ((), {}, "missing a required argument: 'first'"),
        ((1, "b", 2.5), {}, "too many positional arguments"),
        ((1,), {"zzz": 1}, "there is no argument 'zzz'"),
        ((1,), {"first": 1}, "multiple values for argument 'first'"),
    ],
)
def test_a_call_that_does_not_fit_is_a_sentence_with_the_form(
    args: tuple[Any, ...], kwargs: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        go(*args, **kwargs)

    assert str(caught.value) == f"go(…): {sentence}; it is go(first, second='b', *, third=None)"


def test_a_misspelt_keyword_gets_a_suggestion() -> None:
    with pytest.raises(InputError) as caught:
        go(1, thrid=2.5)  # type: ignore[call-arg]

    assert str(caught.value) == (
        "go(…): there is no argument 'thrid'; it is go(first, second='b', *, third=None)"
        "; did you mean 'third'?"
    )


def test_a_class_that_a_user_need_not_construct_names_what_makes_it() -> None:
    @made_by("shop.order(…)")
    @dataclass(frozen=True, slots=True)
    class Order:
        number: int

    assert Order(3) == Order(number=3)
    with pytest.raises(InputError) as caught:
        Order(numbr=3)  # type: ignore[call-arg]
    assert str(caught.value) == (
        "Order(…): there is no argument 'numbr'; shop.order(…) makes one; did you mean 'number'?"
    )
    with pytest.raises(InputError, match=r"^Order\(…\): missing .*'number'; shop\.order"):
        Order()  # type: ignore[call-arg]


def test_a_type_error_of_the_function_itself_stays_one() -> None:
    @checks_arguments
    def fail() -> None:
        raise TypeError("mine")

    with pytest.raises(TypeError, match="mine"):
        fail()


@pytest.mark.parametrize("value", [3, b"x", None, "a\0b", ["x"]])
def test_what_is_not_a_path_is_a_sentence(value: Any) -> None:
    with pytest.raises(InputError, match=r"^go\(out=.*\): it is not a path"):
        read_path("go(out=", value)


def test_a_path_is_a_text_or_a_path() -> None:
    assert read_path("", "x") == read_path("", Path("x")) == Path("x")


def test_texts_are_a_list_or_one() -> None:
    assert read_texts("a") == ("a",)
    assert read_texts(["a", "b"]) == ("a", "b")
    for inputs in (3, None, ["a", 3], b"x"):
        with pytest.raises(ValueError, match="is not text; give a list of texts"):
            read_texts(inputs)
