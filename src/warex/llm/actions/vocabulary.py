"""The names of a benchmark's actions, without what parses them out of a text."""

from collections.abc import Iterable
from typing import Protocol, Self

from pydantic import BaseModel, model_validator


class NamedAction(Protocol):
    """An action."""

    @property
    def name(self) -> str:
        """Its name, as in the vocabulary."""


class Vocabulary(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """A benchmark's action names, spelt as the agent spells them.

    A name is in every list that is true of it.
    """

    name: str
    navigate: tuple[str, ...] = ()
    """Lead to a page: ``goto``, ``go_back``, ``click``."""
    recover: tuple[str, ...] = ()
    """Can bring back what a fault took away: ``reload``, ``goto``."""
    retry: tuple[str, ...] = ()
    """Ask for the very same page again: ``reload``; each also in ``recover``."""
    finish: tuple[str, ...] = ()
    """End the task."""
    infeasible: tuple[str, ...] = ()
    """End the task as one that cannot be done; each also in ``finish``."""
    noop: tuple[str, ...] = ()
    """Wait and look again."""
    calls: tuple[str, ...] = ()
    """Begin a part of the task, which ``finish`` then ends in place of the task: subroutines."""
    other: tuple[str, ...] = ()
    """All other actions."""
    first_only: bool = False
    """Whether the agent carries out only the first action of an answer."""
    asks_again: str = ""
    """An answer of the model that asks for the very same page again, in the agent's own form, with
    ``{url}`` for the page's address. Empty where there is none, or only tool calls can."""

    @model_validator(mode="after")
    def _narrower_lists_lie_in_wider_ones(self) -> Self:
        for narrow, wide in (("infeasible", "finish"), ("retry", "recover")):
            strays = [n for n in getattr(self, narrow) if n not in getattr(self, wide)]
            if strays:
                raise ValueError(f"{narrow} names {strays}, which {wide} must name too")
        return self

    @property
    def names(self) -> frozenset[str]:
        """Every action there is."""
        return frozenset(
            self.navigate + self.recover + self.finish + self.noop + self.calls + self.other
        )


class SubtaskDepth:
    """Counts the open subroutines of an agent's task."""

    def __init__(self) -> None:
        self.depth = 0

    def ends(self, actions: Iterable[NamedAction], vocabulary: Vocabulary) -> bool:
        """Count the actions; return whether one of them ends the whole task."""
        for action in actions:
            if action.name in vocabulary.calls:
                self.depth += 1
            elif action.name in vocabulary.finish:
                if self.depth == 0:
                    return True
                self.depth -= 1
        return False
