"""Steps of an agent: a step is one LLM call, repeats of one body merged.

Clients repeat a failed call with the very same body to the same path; that is the client's doing,
not another thought of the agent.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StepCounter:
    """How many steps there have been, while they happen."""

    count: int = 0
    last_digest: str | None = None

    def after(self, body_digest: str) -> "StepCounter":
        """Return the steps after one more call."""
        if body_digest == self.last_digest:
            return self
        return StepCounter(self.count + 1, body_digest)
