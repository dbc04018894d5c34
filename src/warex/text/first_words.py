"""The first part of a long text, cut where no word is."""

from typing import Final

_LONGEST_WORD: Final = 4096


def first_words(text: str, most: int) -> str:
    """Return the first ``most`` characters of a text, without the word in which they end.

    Half a secret is not recognised as one. A word is looked for in 4,096 characters.
    """
    if len(text) <= most:
        return text
    begin = max(0, most - _LONGEST_WORD)
    end = text[begin:most]
    last = max(end.rfind(" "), end.rfind("\n"), end.rfind("\t"))
    return text[: begin + last + 1]
