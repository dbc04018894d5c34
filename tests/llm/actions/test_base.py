import pytest

from warex.llm.actions.base import Action, CodeCall, Context, inner_context, listens


@pytest.mark.parametrize(
    ("outer", "inner", "both"),
    [
        ("", "loop", "loop"),
        ("loop", "branch", "loop"),
        ("branch", "handler", "handler"),
        ("event", "loop", "event"),
        ("", "", ""),
    ],
)
def test_the_more_specific_of_two_contexts_is_taken(
    outer: Context, inner: Context, both: Context
) -> None:
    assert inner_context(outer, inner) == both


def test_a_call_with_names_alone_is_an_action_with_names() -> None:
    assert CodeCall("a", keywords={"x": "1"}).as_action("a") == Action("a", {"x": "1"})
    mixed = CodeCall("a", arguments=("2",), keywords={"x": "1"})
    assert mixed.as_action("a") == Action("a", ("2", "1"))


@pytest.mark.parametrize(
    "name", ["on", "once", "On", "onCrash", "on_event", "addEventListener", "route", "ListenTarget"]
)
def test_a_function_that_is_given_a_listener_is_known_by_its_name(name: str) -> None:
    assert listens(name)


@pytest.mark.parametrize("name", ["only", "open", "then", "retry", "describe", "ready", "run"])
def test_other_functions_call_what_they_are_given_now(name: str) -> None:
    assert not listens(name)
