"""Finds the values of options in a command line that is a list of texts, as tools are given it."""

from collections.abc import Collection, Sequence

from warex.traces.redaction.names import Secrecy, name_secrecy


def secret_values(words: Sequence[object]) -> Collection[int]:
    """Return the places of the secrets in ``["tool", "--password", "x", "--token=y"]``."""
    if not any(isinstance(word, str) and word.startswith("--") for word in words):
        return ()
    if not all(isinstance(word, str) for word in words):
        return ()
    places: set[int] = set()
    is_value = False
    for place, word in enumerate(map(str, words)):
        is_option = word.startswith("--")
        name, mark, value = word.partition("=")
        is_secret = is_option and name_secrecy(name) is Secrecy.SECRET
        if (is_value and not word.startswith("-")) or (is_secret and value):
            places.add(place)
        is_value = is_secret and not mark
    return places
