"""The order in which candidates are measured."""

from collections.abc import Iterator, Sequence


def alternate[T](candidates: Sequence[T], rounds: int) -> Iterator[Sequence[T]]:
    """Yield the candidates once per round, alternately forwards and backwards.

    So no candidate always follows the same one, which may leave the machine hot or its caches full.
    """
    for number in range(rounds):
        yield candidates if number % 2 == 0 else candidates[::-1]
