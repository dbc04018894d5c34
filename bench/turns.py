"""Who comes first in a round."""


def rotated[T](candidates: list[T], first: int) -> list[T]:
    """Return the candidates in their order, beginning with another one each round."""
    first %= len(candidates)
    return candidates[first:] + candidates[:first]
