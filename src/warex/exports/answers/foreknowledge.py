"""Finds thoughts that only an agent that knows the task's plan can write.

A scripted agent may say how long its plan is, or name an element that its page does not show. No
live run of another agent has such text in its history.
"""

import re
from typing import Final

from warex.exports.prompt_page import QUOTED

_PLAN_LENGTH: Final = re.compile(r"^\W*step \d+ of \d+\b", re.IGNORECASE | re.MULTILINE)
_ROLES: Final = (
    "alert|article|button|cell|checkbox|combobox|dialog|heading|image|link|listbox|menuitem|option"
    "|radio|row|searchbox|slider|spinbutton|status|switch|tab|textbox|treeitem"
)
_NAMED: Final = re.compile(rf"\b(?:{_ROLES}) ({QUOTED})")
_LITERAL: Final = re.compile(QUOTED)
_WORD: Final = re.compile(r"\w+")


def foreknowledge(thought: str, shown: str) -> str | None:
    """Return what a thought says that its prompt does not contain; None if nothing.

    ``shown`` are the prompt's texts without the agent's earlier answers.
    """
    if plan := _PLAN_LENGTH.search(thought):
        return f"{plan[0].strip()!r}, the length of a plan"
    names = list(_NAMED.finditer(thought))
    if not names:
        return None
    # A text may be shown in one piece, or as the names of several elements that follow each other.
    literals = (literal[0][1:-1] for literal in _LITERAL.finditer(shown))
    words = f" {_words(shown)} | {_words(' '.join(literals))} "
    unseen = (it[0] for it in names if f" {_words(it[1][1:-1])} " not in words)
    return next((f"{it}, which its page did not show" for it in unseen), None)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
