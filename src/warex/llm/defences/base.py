"""The type of a defence."""

from typing import Annotated

from pydantic import BaseModel, Field, StringConstraints


class Defence(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """A text for the agent's model, added to the system prompt of each of its requests in flight.

    Neither the agent nor the benchmark is changed, so a defence can be tried on anybody's agent.
    """

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
    text: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]
    summary: str = Field(default="", description="One line for the catalogue.")
