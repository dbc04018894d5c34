"""How many trials of a campaign run concurrently."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warex.campaigns.config.options import RunOptions

if TYPE_CHECKING:
    from warex.campaigns.plan.campaign_plan import CampaignPlan


@dataclass(frozen=True, slots=True)
class Lanes:
    """The number of lanes, and why it was lowered."""

    count: int | None
    """None: as many as a Ray cluster has CPUs."""
    why: str | None = None
    """A sentence if the number was lowered."""


def choose_lanes(planned: "CampaignPlan", options: RunOptions) -> Lanes:
    """Return a run's lanes: one if its trials share a site.

    Concurrent trials on a shared site would see, and be scored by, each other's actions.
    """
    config = planned.config
    asked = options.jobs or (None if options.ray is not None else config.jobs)
    if planned.benchmark.isolated or asked == 1:
        return Lanes(asked)
    if len(planned.trials) < 2:
        return Lanes(1)
    chosen = options.jobs is not None or "jobs" in config.model_fields_set
    wanted = f", not {asked} as asked" if chosen and asked is not None else ""
    return Lanes(
        1,
        f"trials run one at a time{wanted}: those of the benchmark {planned.benchmark.name!r} may"
        " share a site, and one would be scored by what another did there. If each has a site and"
        " accounts of its own, say isolated = true in benchmark.options",
    )
