"""Regular expressions that are compiled when they are first used.

Compiling takes longer than all else of a module with many of them, and most trials use few.
"""

import re
from typing import Any, cast


class _LazyPattern:
    """Stands for a ``re.Pattern``; each attribute is fetched from it once."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._source, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        # ``re`` caches few patterns, so keep this one.
        if "_compiled" not in self.__dict__:
            self._compiled = re.compile(self._source, self._flags)
        value = getattr(self._compiled, name)
        setattr(self, name, value)
        return value


def lazy_re[T: (str, bytes)](pattern: T, flags: int = 0) -> re.Pattern[T]:
    """Return a pattern that is compiled at its first use; it has the methods of ``re.Pattern``.

    The ``re`` of a match is the compiled pattern, and not this one.
    """
    return cast("re.Pattern[T]", _LazyPattern(pattern, flags))
