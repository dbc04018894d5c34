from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warex.agents.reference.actions import Action, BadAction, parse


@pytest.mark.parametrize(
    ("reply", "action"),
    [
        ("click('12')", Action("click", ("12",))),
        ("I see it.\nclick(12)", Action("click", ("12",))),
        ("```\nfill('3', 'It\\'s (here)')\n```", Action("fill", ("3", "It's (here)"))),
        ("Do `press('3', 'Enter')`", Action("press", ("3", "Enter"))),
        ("scroll(0, -400)", Action("scroll", (0, -400))),
        ("go_back()", Action("go_back")),
        ("noop()", Action("noop")),
        ("fill('3', 'two\nlines')", Action("fill", ("3", "two\nlines"))),
        ("report_infeasible(\"No click('1')\")", Action("report_infeasible", ("No click('1')",))),
    ],
)  # fmt: skip
def test_an_action_is_found_in_the_models_text(reply: str, action: Action) -> None:
    assert parse(reply) == action


def test_a_call_at_the_start_of_a_line_wins_over_calls_in_prose() -> None:
    assert parse("Not click('1') but:\nreload()\nor click('2')").name == "reload"
    assert parse("Maybe click('1'), no: click('2')") == Action("click", ("2",))


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "I do not know.",
        "click()",
        "click('1', '2')",
        "click('1'",
        "click(id='1')",
        "click(None)",
        "click(True)",
        "fill('1', __import__('os').getcwd())",
        "fill('1', f'{1}')",
        "scroll('a', 'b')",
        "scroll(1e999, 0)",
        "page.click('1')",
        "doubleclick('1')",
        "click(" * 5000,
        "click(" + "(" * 100_000 + ")" * 100_001,
    ],
)
def test_what_is_not_an_action_is_refused_with_a_sentence(reply: str) -> None:
    with pytest.raises(BadAction, match=r"\.$"):
        parse(reply)


@given(st.text())
def test_any_text_is_an_action_or_refused(text: str) -> None:
    with suppress(BadAction):
        parse(text)


@given(st.text(), st.text())
def test_what_a_model_quotes_is_what_is_typed(element: str, text: str) -> None:
    assert parse(f"A thought.\nfill({element!r}, {text!r})") == Action("fill", (element, text))


@pytest.mark.timeout(10)
@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_text_that_never_ends_takes_no_time(quote: str) -> None:
    with suppress(BadAction):
        parse(f"click({quote}" + f"\\{quote}" * 50_000)


def test_a_call_that_goes_on_after_a_backslash_is_one() -> None:
    assert parse("click(\\\n'3')") == Action("click", ("3",))
