"""Chooses a persona's next action as a pure function of the request.

It knows no error pages: it detects an error by the absence of the expected element.
"""

from collections.abc import Sequence
from itertools import takewhile
from typing import Literal

from warex.agents.scripted_model.reading import IN_THE_WAY, Element, Situation, Turn
from warex.agents.scripted_model.tasks import OracleStep, Task, Tasks

type Persona = Literal["giveup", "patient", "suggestible"]

PERSONAS: tuple[Persona, ...] = ("giveup", "patient", "suggestible")

PATIENCE = 5
"""Reloads for one missing element before a patient persona gives up."""

STUBBORNNESS = 4
"""Failed tries of one action on an element that is there, before any persona gives up."""

_CLOSING = frozenset(
    ("close", "\u00d7", "x", "no thanks", "not now", "maybe later", "stay signed out", "dismiss")
)
"""What buttons that only close a dialog say."""

LONGEST = 60
"""Past turns after which any persona gives up: whatever happens, it ends."""


def reply(persona: Persona, situation: Situation, tasks: Tasks) -> str:
    """Return the persona's reply: a short thought, then one action on a line of its own."""
    task = tasks.find(situation.goal)
    if task is None:
        return _report("I do not know this task.")
    step = next_step(situation.turns)
    if step >= len(task.oracle):
        return "All steps are done.\nsend_msg_to_user('Done.')"
    place = _place(step, situation)
    here = resume(task, step, situation)
    if situation.turns and situation.turns[-1].failed and _is_covered(here, situation):
        return place + _uncover(persona, situation)
    if len(situation.turns) >= LONGEST or _failures(situation.turns, step) >= STUBBORNNESS:
        return f"{place}I try in vain.\n{_report('The page does not let me act.')}"
    if here is not None:
        index, element = here
        return _place(index, situation) + _do(task.oracle[index], element)
    # What is missing is not named: only who knows the task's plan could name it.
    missing = "does not show what I need"
    if _reloads(situation.turns, step) < _patience(persona, situation):
        return f"{place}this page {missing}, I load it again.\nreload()"
    return f"{place}this page {missing}, I give up.\n{_report(f'This page {missing}.')}"


def _is_covered(here: tuple[int, Element] | None, situation: Situation) -> bool:
    """Whether a dialog is open that has nothing to do with the step."""
    return bool(situation.dialog) and (here is None or here[1] not in situation.dialog)


def _uncover(persona: Persona, situation: Situation) -> str:
    """Close or accept a dialog over the page, or give up.

    A suggestible persona accepts any offer, unless its prompt says to close it.
    """
    usable = [it for it in situation.dialog if it.id and it.role in ("button", "link")]
    closes = [it for it in usable if it.text.lower() in _CLOSING]
    accepts = [it for it in usable if it not in closes]
    warned = persona == "patient" or situation.asked_to_close
    wanted = [] if persona == "giveup" else closes if warned else accepts
    if not wanted:
        return f"a popup {IN_THE_WAY}, I give up.\n" + _report("A popup covers the page.")
    verb = "close" if warned else "accept"
    return f"a popup {IN_THE_WAY}, I {verb} it.\nclick({wanted[-1].id!r})"


def _patience(persona: Persona, situation: Situation) -> int:
    willing = persona == "patient" or (persona == "suggestible" and situation.asked_to_refresh)
    return PATIENCE if willing else 0


def next_step(turns: Sequence[Turn]) -> int:
    """Return the step after the last one done; a failed action or a reload did not do it."""
    if not turns:
        return 0
    last = turns[-1]
    return last.step if last.reloaded or last.failed or last.aside else last.step + 1


def resume(task: Task, step: int, situation: Situation) -> tuple[int, Element] | None:
    """Return the current step and its element, or None if no expected element is here.

    Usually that is the next step. A reload discards fields and dialogs, so the page's steps begin
    again, or those of the page before if the reload led back there.
    """
    element = find_element(task.oracle[step], situation.elements)
    begun = task.first_of_page(step)
    if not (situation.turns and situation.turns[-1].reloaded):
        return (step, element) if element else None
    if element and begun == step:
        return step, element
    before = task.first_of_page(begun - 1) if begun else begun
    for index in (*range(begun, step + 1), *range(before, begun)):
        if element := find_element(task.oracle[index], situation.elements):
            return index, element
    return None


def find_element(wanted: OracleStep, elements: Sequence[Element]) -> Element | None:
    """Return the element that a step needs, if it is there and can be used."""
    named = (it for it in elements if (it.role, it.text) == (wanted.role, wanted.name))
    any_state = wanted.action == "answer"
    return next((it for it in named if any_state or (it.id and not it.disabled)), None)


def _reloads(turns: Sequence[Turn], step: int) -> int:
    """Count the reloads for a step since it, or a later one, was last done.

    Doing the page's earlier steps again, as a reload asks for, is not progress.
    """
    count = 0
    for turn in reversed(turns):
        if turn.reloaded:
            count += turn.step == step
        elif turn.step >= step and not turn.failed:
            break
    return count


def _failures(turns: Sequence[Turn], step: int) -> int:
    failed = (turn.failed and not turn.reloaded and turn.step == step for turn in reversed(turns))
    return sum(takewhile(bool, failed))


def _place(index: int, situation: Situation) -> str:
    """Return the step, by which it is read back, and, for a small model, the page's heading."""
    where = f", on {situation.headed!r}" if situation.headed else ""
    return f"Step {index + 1}{where}: "


def _shown(step: OracleStep) -> str:
    return f"{step.role} {step.name!r}"


def _do(step: OracleStep, element: Element) -> str:
    if step.action == "answer":
        return f"the {_shown(step)} is here, I am done.\n{action_of(step, element)}"
    shown = f"{_shown(step)} [{element.id}]" if element.id_last else _shown(step)
    verb = step.action.replace("_", " ")
    return f"{verb} the {shown}.\n{action_of(step, element)}"


def action_of(step: OracleStep, element: Element) -> str:
    """Return a step's action as the reference agent reads it: ``click('7')``."""
    if step.action == "answer":
        return f"send_msg_to_user({step.text!r})"
    arguments = repr(element.id) if step.action == "click" else f"{element.id!r}, {step.text!r}"
    return f"{step.action}({arguments})"


def _report(why: str) -> str:
    return f"report_infeasible({why!r})"
