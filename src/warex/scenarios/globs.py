"""Globs as regular expressions that match in linear time."""

import re
from collections.abc import Sequence


def glob_to_regex(glob: str, star: str = ".") -> str:
    """Return a glob's regular expression; ``star`` matches one character of a ``*``."""
    return join_with_wildcards([re.escape(part) for part in glob.split("*")], star)


def join_with_wildcards(parts: Sequence[str], star: str) -> str:
    """Join expressions of fixed length with stars."""
    first, *others = parts
    if not others:
        return first
    *middle, last = others
    # Atomic groups: the first match between two stars suffices, and backtracking would be
    # exponential in the number of stars.
    between = "".join(f"(?>{star}*?{part})" for part in middle if part)
    return f"{first}{between}{star}*{last}"
