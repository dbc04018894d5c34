"""What a task's oracle does in the states that another agent has come to.

A persona reads its own progress from its own words. Here the progress is any agent's: an
action which is the oracle's next step is done, and another one has left the plan.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from warex.agents.scripted_model.persona import action_of, find_element, next_step, resume
from warex.agents.scripted_model.reading import Element, Situation, Turn, read, text
from warex.agents.scripted_model.tasks import OracleStep, Task, Tasks

_URL: Final = re.compile(r"^URL: (.*)$", re.MULTILINE)


class TakenStep(Protocol):
    """One step of an agent: what it was shown, and what it did."""

    @property
    def prompt(self) -> Sequence[dict[str, Any]]:
        """The messages that it was asked with."""

    @property
    def action(self) -> str:
        """The action's name."""

    @property
    def arguments(self) -> Sequence[str]:
        """The action's arguments that are texts."""

    @property
    def writes(self) -> bool:
        """Whether the action led to a request that may change the site."""


def oracle_actions(tasks: Tasks, taken: Sequence[TakenStep]) -> list[str | None]:
    """Return the oracle's action in the state before each step of a trajectory.

    None where it has none: the task is unknown, the page does not show what the plan needs, or an
    action that is not in the plan has changed the site before.
    """
    pages = [read(step.prompt) for step in taken]
    actions: list[str | None] = []
    turns: list[Turn] = []
    for at, (step, page) in enumerate(zip(taken, pages, strict=True)):
        after = at + 1 if at + 1 < len(taken) else at
        failed = after > at and pages[after].failed
        task = tasks.find(page.goal)
        begun = next_step(turns)
        if task is None or begun >= len(task.oracle):
            break
        here = _next(task, begun, turns, page)
        actions.append(action_of(task.oracle[here[0]], here[1]) if here else None)
        if here is not None and _does(step, task.oracle[here[0]], here[1]):
            turns.append(Turn(here[0], reloaded=False, failed=failed))
        elif step.writes:
            break
        else:
            # On a new page the plan's steps of that page begin again, as after a reload.
            moved = step.action == "reload" or _url(step) != _url(taken[after])
            turns.append(Turn(begun, reloaded=moved, failed=failed, aside=not moved))
    return [*actions, *[None] * (len(taken) - len(actions))]


def _next(
    task: Task, step: int, turns: Sequence[Turn], page: Situation
) -> tuple[int, Element] | None:
    """Return the step to do on a page and its element: the next one, or a way back to it."""
    if turns and turns[-1].failed and page.dialog:
        return None
    return resume(task, step, replace(page, turns=tuple(turns))) or next(
        _links_back(task, step, page), None
    )


def _links_back(task: Task, step: int, page: Situation) -> Iterator[tuple[int, Element]]:
    """Yield the links of the plan that the page shows, the last ones first."""
    for index in reversed(range(step)):
        wanted = task.oracle[index]
        if (wanted.action, wanted.role) == ("click", "link") and (
            element := find_element(wanted, page.elements)
        ):
            yield index, element


def _does(taken: TakenStep, step: OracleStep, element: Element) -> bool:
    wanted = (element.id,) if step.action == "click" else (element.id, step.text)
    return (taken.action, tuple(taken.arguments)) == (step.action, wanted)


def _url(step: TakenStep) -> str:
    shown: Iterator[Mapping[str, Any]] = (it for it in step.prompt if it.get("role") == "user")
    match = _URL.search("\n".join(map(text, shown)))
    return match[1] if match else ""
