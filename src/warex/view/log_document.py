"""The output of an agent's command, as the viewer shows it: as text, its beginning and its end."""

import os
import re
from pathlib import Path
from typing import Any, Final

from warex.errors import TraceError
from warex.files.reading import open_regular_file
from warex.text.escaping import escape_controls
from warex.traces.paths import AGENT_LOG

_BEGINNING: Final = 1 << 16
_END: Final = 1 << 19
"""Bytes of a log that are shown."""
_TERMINAL: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
"""Colours, movements of the cursor, titles of the window (ECMA-48: CSI and OSC)."""


def log_document(attempt: Path) -> dict[str, Any]:
    """Return what the agent's command printed; ``left_out`` bytes follow the beginning.

    Raises TraceError if it cannot be read.
    """
    path = attempt / AGENT_LOG
    try:
        with open_regular_file(path, follow=False) as file:
            size = os.fstat(file.fileno()).st_size
            left_out = max(0, size - _BEGINNING - _END)
            beginning = file.read(_BEGINNING)
            file.seek(left_out, os.SEEK_CUR)
            end = file.read(_END)
    except OSError as error:
        raise TraceError(f"{path} cannot be read: {error.strerror or error}.") from None
    parts = (beginning, end) if left_out else (beginning + end,)
    return {
        "file": AGENT_LOG,
        "size": size,
        "left_out": left_out,
        "parts": [_text(part) for part in parts],
    }


def _text(data: bytes) -> str:
    """Return a part of a log without what only a terminal obeys."""
    text = _TERMINAL.sub("", data.decode(errors="replace"))
    return escape_controls(text.replace("\r\n", "\n").replace("\r", "\n"))
