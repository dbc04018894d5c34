"""The catalogue of defences: one file each.

To add one: write its file, its test, one line in docs/reference/defences.md, and name it below.
tests/llm/defences/test_defences.py names whichever is missing.
"""

import re
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from warex.errors import InputError
from warex.files.reading import read_text_file
from warex.llm.defences.base import Defence
from warex.llm.defences.injection_warning import INJECTION_WARNING
from warex.llm.defences.popup_warning import POPUP_WARNING
from warex.llm.defences.refresh import REFRESH
from warex.text.english import did_you_mean

DEFENCES: tuple[Defence, ...] = (REFRESH, POPUP_WARNING, INJECTION_WARNING)

__all__ = ["DEFENCES", "Defence", "defence_of", "find_defence", "no_such_defence"]

_BY_NAME = {defence.name: defence for defence in DEFENCES}


def defence_of(value: Any) -> Any:
    """Return the defence with a name; return other values unchanged.

    Raises ValueError for a name that is not in the catalogue.
    """
    if not isinstance(value, str):
        return value
    if value not in _BY_NAME:
        raise ValueError(no_such_defence(value, "give a table with name and text"))
    return _BY_NAME[value]


def find_defence(source: str) -> Defence:
    """Return the defence with a name, or one with the text of a file, named after the file.

    Raises InputError if there is neither.
    """
    if source in _BY_NAME:
        return _BY_NAME[source]
    path = Path(source)
    if not path.suffix and not path.is_file():
        raise InputError(no_such_defence(source, "give a file with a text"))
    try:
        text = read_text_file(path).strip()
    except OSError as error:
        raise InputError(f"the defence {source} cannot be read: {error.strerror}") from None
    except ValueError:
        raise InputError(f"the defence {source} is not text in UTF-8") from None
    name = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "own"
    try:
        return Defence(name=f"own-{name}" if name in _BY_NAME else name[:80].rstrip("-"), text=text)
    except ValidationError as error:
        why = error.errors(include_url=False)[0]["msg"]
        raise InputError(f"the text of the defence {source}: {why}") from None


def no_such_defence(name: str, or_else: str = "") -> str:
    """Return the error for an unknown name: the nearest, else all and what may stand there too."""
    allowed = f"; there are: {', '.join(_BY_NAME)}{or_else and f'; or {or_else}'}"
    return f"there is no defence {name!r}{did_you_mean(name, _BY_NAME) or allowed}"
