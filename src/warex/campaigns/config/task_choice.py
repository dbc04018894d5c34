"""Which of a benchmark's tasks a campaign runs."""

from collections.abc import Callable, Collection, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator

from warex.errors import CampaignError
from warex.scenarios.mistakes import name_list, unknown_name
from warex.seeds import draw
from warex.text.english import count_noun

type Name = Annotated[str, StringConstraints(min_length=1, max_length=80, pattern=r"^\S(.*\S)?$")]

type Count = Annotated[int, Field(ge=1, strict=True)]


class TaskChoice(BaseModel, frozen=True, extra="forbid"):
    """Which of the benchmark's tasks: one of all, names, match and sample, and what narrows it."""

    all: Literal[True] | None = Field(default=None, description="All there are.")
    names: tuple[str, ...] | None = Field(default=None, min_length=1, description="These.")
    match: str | None = Field(default=None, description="A glob over task names.")
    sample: Count | None = Field(
        default=None,
        description="Number of tasks, drawn by the seed from those that the other keys leave.",
    )
    sites: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="Only tasks that need no other site than these."
    )
    without_sites: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="No task that needs one of these sites."
    )
    without: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="None of these tasks."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        present = [key for key in ("all", "names", "match", "sample") if getattr(self, key)]
        narrowed = self.sites or self.without_sites or self.without
        if len(present) > 1 or not (present or narrowed):
            names = " and ".join(present) or "none"
            raise ValueError(f"found {names}; give exactly one of all, names, match, sample")
        return self


def chosen_tasks(
    choice: TaskChoice,
    tasks: Sequence[str],
    seed: int,
    sites: Callable[[str], Collection[str]] = lambda task: (),
) -> tuple[str, ...]:
    """Return the campaign's tasks in the benchmark's order.

    ``sites`` returns the names of the sites that a task needs.
    Raises CampaignError for a name the benchmark does not have, or an empty choice.
    """
    if choice.names is not None:
        _require(choice.names, tasks, "tasks.names: there is no task")
    tasks = _narrowed(choice, tasks, sites)
    if choice.names is not None:
        chosen = tuple(name for name in tasks if name in choice.names)
        if not chosen:
            raise CampaignError("tasks.names: all of them are excluded by the other keys")
        return chosen
    if choice.match is not None:
        chosen = tuple(name for name in tasks if fnmatchcase(name, choice.match))
        if not chosen:
            raise CampaignError(
                f"tasks.match: {choice.match!r} matches none of: {name_list(tasks)}"
            )
        return chosen
    if choice.sample is not None:
        if choice.sample > len(tasks):
            raise CampaignError(
                f"tasks.sample: {choice.sample} is more than the"
                f" {count_noun(len(tasks), 'task there is', 'tasks there are')}"
            )
        by_luck = sorted(tasks, key=lambda name: draw(seed, "sample", name))
        picked = set(by_luck[: choice.sample])
        return tuple(name for name in tasks if name in picked)
    return tuple(tasks)


def _narrowed(
    choice: TaskChoice, tasks: Sequence[str], sites: Callable[[str], Collection[str]]
) -> Sequence[str]:
    """Return the tasks that ``sites``, ``without_sites`` and ``without`` leave."""
    without = choice.without or ()
    _require(without, tasks, "tasks.without: there is no task")
    left = [name for name in tasks if name not in without]
    if choice.sites is not None or choice.without_sites is not None:
        needed = {name: frozenset(sites(name)) for name in tasks}
        known = sorted(frozenset().union(*needed.values()))
        for key in ("sites", "without_sites"):
            _require(getattr(choice, key) or (), known, f"tasks.{key}: no task needs the site")
        left = [
            name
            for name in left
            if (choice.sites is None or needed[name] <= frozenset(choice.sites))
            and needed[name].isdisjoint(choice.without_sites or ())
        ]
    if tasks and not left:
        raise CampaignError(
            "tasks: none is left by tasks.sites, tasks.without_sites and tasks.without; a task of"
            " several sites needs each of them in tasks.sites"
        )
    return left


def _require(names: Sequence[str], known: Sequence[str], mistake: str) -> None:
    missing = [name for name in names if name not in known]
    if missing:
        raise CampaignError(unknown_name(mistake, missing[0], known))
