"""The catalogue of defences: one file each.

To add one: write its file, its test, one line in docs/reference/defences.md, and name it below.
tests/llm/defences/test_defences.py names whichever is missing.
"""

from difflib import get_close_matches
from typing import Any

from warex.llm.defences.base import Defence
from warex.llm.defences.injection_warning import INJECTION_WARNING
from warex.llm.defences.popup_warning import POPUP_WARNING
from warex.llm.defences.refresh import REFRESH

DEFENCES: tuple[Defence, ...] = (REFRESH, POPUP_WARNING, INJECTION_WARNING)

__all__ = ["DEFENCES", "Defence", "defence_of"]

_BY_NAME = {defence.name: defence for defence in DEFENCES}


def defence_of(given: Any) -> Any:
    """Return the defence of a name; what is not a name is returned as it is.

    Raises ValueError for a name that the catalogue lacks.
    """
    if not isinstance(given, str):
        return given
    if given not in _BY_NAME:
        near = get_close_matches(given, _BY_NAME, n=1)
        guess = f"; did you mean {near[0]!r}?" if near else "."
        raise ValueError(
            f"there is no defence {given!r}{guess} There are: {', '.join(_BY_NAME)}; or give a"
            " table with name and text"
        )
    return _BY_NAME[given]
