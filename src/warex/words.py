"""Small words of English sentences."""

import re
from typing import Final

_SOUNDS_LIKE_A_VOWEL: Final = re.compile(
    r"(?!(?:one\b|once|eu|u(?:ni[cfoqtvx]|s[aeiu]|rl|tf|dp|uid)))[aeiou]|ho(?:nest|nour|ur)|xhr",
    re.IGNORECASE,
)
_SPELLED_OUT: Final = re.compile(r"[FHLMNRSX](?=[B-DF-HJ-NP-TV-Z\d])")
"""Letters whose names begin with a vowel, of words said letter by letter: HTML, not HAR."""


def a(noun: str) -> str:
    """Return the noun with its indefinite article, by how it sounds: *an image*, *a URL*."""
    spoken = _SOUNDS_LIKE_A_VOWEL.match(noun) or _SPELLED_OUT.match(noun)
    return f"{'an' if spoken else 'a'} {noun}"
