"""The oracle in the states of an agent that does not follow its plan."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from warex.agents.reference.prompt import Observation, Step, messages
from warex.agents.scripted_model.oracle import oracle_actions
from warex.agents.scripted_model.tasks import OracleStep, Task, Tasks

GOAL = "Save the red lamp."
TASKS = Tasks(
    (
        Task(
            "lamp",
            GOAL,
            (
                OracleStep("home", "click", "link", "Lamps"),
                OracleStep("list", "click", "link", "Red lamp"),
                OracleStep("lamp", "fill", "textbox", "Note", "For Ada"),
                OracleStep("lamp", "click", "button", "Save"),
                OracleStep("saved", "answer", "status", "Saved", "Done."),
            ),
        ),
    )
)
HOME = ("/", "[1] link 'Lamps'\n[2] link 'Help'")
LIST = ("/lamps", "[1] link 'Home'\n[5] link 'Red lamp'\n[6] link 'Blue lamp'")
LAMP = ("/red", "[7] textbox 'Note'\n[8] button 'Save'\n[9] button 'Delete'\n[1] link 'Lamps'")
SAVED = ("/red", "[3] status 'Saved'")
HELP = ("/help", "[4] heading 'Help'")


@dataclass(frozen=True)
class Taken:
    prompt: Sequence[dict[str, Any]]
    action: str
    arguments: Sequence[str] = ()
    writes: bool = False


def taken(
    page: tuple[str, str], action: str, *arguments: str, writes: bool = False, failed: bool = False
) -> Taken:
    """Return a step; ``failed``: its prompt says that the action before it failed."""
    past = [Step("click('1')", "No such element.")] if failed else []
    seen = Observation(f"https://shop.example{page[0]}", "Shop", page[1])
    return Taken(messages(GOAL, seen, past, compact=True), action, arguments, writes)


def test_the_plan_is_followed_by_actions_not_words() -> None:
    steps = [
        taken(HOME, "click", "1"),
        taken(LIST, "click", "5"),
        taken(LAMP, "fill", "7", "For Ada"),
        taken(LAMP, "click", "8", writes=True),
        taken(SAVED, "send_msg_to_user", "Saved it."),
    ]

    assert oracle_actions(TASKS, steps) == [
        "click('1')",
        "click('5')",
        "fill('7', 'For Ada')",
        "click('8')",
        "send_msg_to_user('Done.')",
    ]


def test_a_wrong_action_that_changes_nothing_leaves_the_plan_where_it_was() -> None:
    steps = [taken(HOME, "reload"), taken(HOME, "scroll"), taken(HOME, "click", "1")]

    assert oracle_actions(TASKS, steps) == ["click('1')"] * 3


def test_only_pages_of_the_plan_are_labelled() -> None:
    steps = [taken(HOME, "click", "2"), taken(HELP, "go_back"), taken(HOME, "click", "1")]

    assert oracle_actions(TASKS, steps) == ["click('1')", None, "click('1')"]


def test_links_of_the_plan_lead_back_to_it() -> None:
    steps = [taken(HOME, "click", "1"), taken(LIST, "click", "1"), taken(HOME, "noop")]

    assert oracle_actions(TASKS, steps)[2] == "click('1')"


def test_fields_are_filled_again_on_a_page_that_is_opened_again() -> None:
    steps = [
        taken(HOME, "click", "1"),
        taken(LIST, "click", "5"),
        taken(LAMP, "fill", "7", "For Ada"),
        taken(LAMP, "click", "1"),
        taken(LIST, "click", "5"),
        taken(LAMP, "noop"),
    ]

    assert oracle_actions(TASKS, steps)[4:] == ["click('5')", "fill('7', 'For Ada')"]


def test_an_action_that_failed_is_still_to_do() -> None:
    steps = [taken(HOME, "click", "1"), taken(HOME, "click", "1", failed=True)]

    assert oracle_actions(TASKS, steps) == ["click('1')", "click('1')"]


def test_after_a_change_that_the_plan_does_not_have_nothing_is_labelled() -> None:
    steps = [
        taken(HOME, "click", "1"),
        taken(LIST, "click", "5"),
        taken(LAMP, "click", "9", writes=True),
        taken(LAMP, "click", "9"),
    ]

    assert oracle_actions(TASKS, steps)[2:] == ["fill('7', 'For Ada')", None]


@pytest.mark.parametrize("goal", ["Buy a chair.", ""])
def test_an_unknown_task_is_not_labelled(goal: str) -> None:
    seen = Observation("https://shop.example/", "Shop", HOME[1])

    assert oracle_actions(TASKS, [Taken(messages(goal, seen, []), "click", ["1"])]) == [None]
