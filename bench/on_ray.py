"""A campaign on a Ray cluster of this machine, beside the same in local lanes."""

from dataclasses import replace

from bench.campaigns import Went, all_solved, one_second_trials, went
from bench.row import Row
from bench.setting import Setting

_LANES = 2


def measure(setting: Setting) -> list[Row]:
    """Run the same trials in local lanes and on as many CPUs of Ray's, one after the other."""
    trials = 2 if setting.quick else 100
    with one_second_trials(setting, trials) as (planned, options):
        here = went(setting, planned, replace(options, jobs=_LANES))
        ray = went(setting, planned, replace(options, jobs=_LANES, ray="local"))
    for campaign in (here, ray):
        all_solved(campaign, trials)
    return [
        Row(
            "ray-against-local",
            f"a campaign of 100 one-second trials on a local Ray cluster of {_LANES} CPUs, to the"
            f" same in {_LANES} local lanes, Ray's own start and end included",
            ray.wall / here.wall,
            "times",
            1.15,
            at_least=False,
            detail=f"{trials} trials; {_told(ray)} on Ray, {_told(here)} here; from the first"
            f" trial's proxy to the last trial's end {_trials(ray) / _trials(here):.3f} times",
        )
    ]


def _trials(campaign: Went) -> float:
    return campaign.last - campaign.first


def _told(campaign: Went) -> str:
    return (
        f"{campaign.wall:.1f} s ({campaign.first:.1f} s before the first trial's proxy was ready,"
        f" {campaign.wall - campaign.last:.1f} s after the last trial)"
    )
