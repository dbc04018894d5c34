"""Trials that share a site run one at a time."""

import sys
from typing import Any

import pytest

from warex.campaigns.config.campaign import CampaignConfig
from warex.campaigns.config.options import RunOptions
from warex.campaigns.plan.campaign_plan import CampaignPlan, plan
from warex.campaigns.plan.lanes import Lanes, choose_lanes


def planned(*, tasks: int = 2, isolated: bool = False, **keywords: Any) -> CampaignPlan:
    options = {
        "command": [sys.executable, "{task}"],
        "tasks": [f"t{number}" for number in range(tasks)],
        "isolated": isolated,
    }
    return plan(
        CampaignConfig.model_validate(
            {
                "name": "c",
                "benchmark": {"name": "command", "options": options},
                "agents": [{"name": "a", "model": "none"}],
                "conditions": [{"name": "clean"}],
            }
            | keywords
        )
    )


@pytest.mark.parametrize(
    ("fields", "options", "says"),
    [
        ({}, RunOptions(), "trials run one at a time: those"),
        ({"jobs": 4}, RunOptions(), "trials run one at a time, not 4 as asked: those"),
        ({"jobs": 1}, RunOptions(jobs=3), "trials run one at a time, not 3 as asked: those"),
        ({}, RunOptions(ray="local"), "trials run one at a time: those"),
        ({}, RunOptions(ray="local", jobs=8), "trials run one at a time, not 8 as asked: those"),
    ],
)
def test_a_shared_site_gets_one_lane_whoever_asks_for_more(
    fields: dict[str, Any], options: RunOptions, says: str
) -> None:
    lanes = choose_lanes(planned(**fields), options)

    assert lanes.count == 1
    assert lanes.why is not None
    assert lanes.why.startswith(says)
    assert "isolated = true in benchmark.options" in lanes.why


@pytest.mark.parametrize(
    ("of", "options", "count"),
    [
        (planned(isolated=True), RunOptions(), 2),
        (planned(isolated=True, jobs=5), RunOptions(), 5),
        (planned(isolated=True), RunOptions(jobs=3), 3),
        (planned(isolated=True), RunOptions(ray="local"), None),
        (planned(jobs=1), RunOptions(), 1),
        (planned(jobs=3), RunOptions(jobs=1), 1),
        (planned(tasks=1, jobs=3), RunOptions(), 1),
    ],
)
def test_nothing_is_reported_where_nothing_is_lowered(
    of: CampaignPlan, options: RunOptions, count: int | None
) -> None:
    assert choose_lanes(of, options) == Lanes(count)
