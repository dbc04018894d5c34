"""Sentences that describe what a fault does to an exchange or a connection try."""

from warex.faults.base import Stage


def describe_exchange(stage: Stage, delay: float, end: str, *, by: str = "the site") -> str:
    """Return e.g. ``is held for 10 s and then answered 504``; ``end`` is ``answered 504``."""
    steps = [f"handled by {by}"] if stage == "response" else []
    if delay:
        steps.append(f"held for {delay:g} s")
    if not steps:
        return f"is {end}"
    return f"is {', '.join(steps)} and then {end}"


def describe_connection_tries(end: str, hold: float) -> str:
    """Return e.g. ``is refused at once; so is every connection try at that host within 3 s``."""
    again = f"so is every connection try at that host within {hold:g} s of the first"
    return f"is {end}; {again}" if hold else f"is {end}"
