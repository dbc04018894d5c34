"""The order in which candidates take turns."""

from collections.abc import Iterator, Sequence


def there_and_back[T](candidates: Sequence[T], rounds: int) -> Iterator[Sequence[T]]:
    """Yield the candidates once a round, forwards and backwards by turns.

    So none always follows the same other, whose turn may leave the machine hot or its caches full.
    """
    for number in range(rounds):
        yield candidates if number % 2 == 0 else candidates[::-1]
