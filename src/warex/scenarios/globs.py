"""Globs as regular expressions that Python's engine matches in time linear in the text."""

import re
from collections.abc import Sequence


def glob_to_regex(glob: str, star: str = ".") -> str:
    """Return a glob's regular expression; ``star`` is what one character of a ``*`` may be."""
    return join_with_wildcards([re.escape(part) for part in glob.split("*")], star)


def join_with_wildcards(parts: Sequence[str], star: str) -> str:
    """Return expressions of fixed length with stars between them."""
    first, *others = parts
    if not others:
        return first
    *middle, last = others
    # Atomic: what is between two stars may be taken where it stands first. Without that, a glob of
    # many stars takes time exponential in their number.
    between = "".join(f"(?>{star}*?{part})" for part in middle if part)
    return f"{first}{between}{star}*{last}"
