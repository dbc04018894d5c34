"""Steps of an agent: a step is one LLM call, with repeats of one body merged.

Clients repeat a failed call with the same body and path, which is not a new step of the agent.
"""

from msgspec import Struct


class StepCounter(Struct, frozen=True):
    """Counts the steps so far."""

    count: int = 0
    last_digest: str | None = None

    def after(self, body_digest: str) -> "StepCounter":
        """Return the counter after one more call."""
        repeated = body_digest == self.last_digest
        return self if repeated else StepCounter(self.count + 1, body_digest)
