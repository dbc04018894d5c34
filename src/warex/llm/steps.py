"""Steps of an agent: a step is one LLM call, repeats of one body merged.

Clients repeat a failed call with the very same body; that is the client's doing, not another
thought of the agent.
"""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Steps:
    """How many steps there have been, while they happen."""

    count: int = 0
    last_digest: str | None = None

    def after(self, body_digest: str) -> "Steps":
        """Return the steps after one more call."""
        if body_digest == self.last_digest:
            return self
        return Steps(self.count + 1, body_digest)


def number_steps(body_digests: Iterable[str]) -> list[int]:
    """Return for each call, in order of arrival, the number of its step, from 1."""
    steps, numbers = Steps(), []
    for digest in body_digests:
        steps = steps.after(digest)
        numbers.append(steps.count)
    return numbers


def count_steps(body_digests: Iterable[str]) -> int:
    """Return how many steps a trial's calls, in order of arrival, were."""
    return max(number_steps(body_digests), default=0)
