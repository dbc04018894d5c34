"""A condition's dose changes what it says, and nothing else."""

from typing import Any

import pytest

from warex.campaigns.config.campaign import CampaignConfig, ConditionConfig, load_campaign
from warex.campaigns.plan.dosing import (
    dosed_scenario,
    with_capped_delays,
    with_first,
    with_frequency,
    with_intensity,
)
from warex.errors import CampaignError, ScenarioError
from warex.scenarios import Scenario
from warex.scenarios.intensity import scaled
from warex.scenarios.load import load_preset


def condition(scenario: str, **more: Any) -> ConditionConfig:
    return ConditionConfig(name="x", scenario=scenario, **more)


def with_fault(**fault: Any) -> Scenario:
    rule = {"name": "r", "trigger": {"first": 1}, "fault": fault}
    return Scenario.model_validate({"name": "s", "rules": [rule]})


def test_an_unknown_scenario_is_reported_with_its_condition() -> None:
    with pytest.raises(ScenarioError, match=r"condition 'x': .*did you mean 'paper/server-error'"):
        dosed_scenario(condition("paper/sever-error"), None)


@pytest.mark.parametrize("name", ["paper/network-error", "paper/javascript"])
def test_holds_are_shortened_and_nothing_else_is_changed(name: str) -> None:
    full = load_preset(name)

    short = with_capped_delays(full, 0.5)

    assert [getattr(rule.fault, "delay", None) for rule in short.rules] == [0.5]
    assert full == scaled(short, 20)


def test_a_hold_that_is_short_enough_stays() -> None:
    full = load_preset("paper/network-error")

    assert with_capped_delays(full, 60) == full
    assert with_capped_delays(full, None) is full


def triggered(trigger: dict[str, Any], **more: Any) -> Scenario:
    inputs = with_fault(kind="http_error").model_dump(mode="json", exclude_none=True)
    inputs["rules"][0] |= {"trigger": trigger, **more}
    return Scenario.model_validate(inputs)


def test_first_is_the_first_so_many_within_the_same_window() -> None:
    scenario = triggered({"always": True, "after_step": 2, "trials": 0.5}, per="url")

    often = with_first(scenario, 5)

    assert often.rules[0].trigger.model_dump(exclude_none=True) == {
        "first": 5,
        "after_step": 2,
        "trials": 0.5,
    }
    assert often.rules[0].fault == scenario.rules[0].fault
    assert often.rules[0].per == "url"


@pytest.mark.parametrize(
    ("trigger", "frequency", "expected"),
    [
        ({"first": 5}, 0, {"first": 1}),
        ({"first": 5}, 3, {"random": {"times": 3, "probability": 0.5}}),
        (
            {"random": {"times": 9, "probability": 0.2}, "after_step": 2},
            3,
            {"random": {"times": 3, "probability": 0.2}, "after_step": 2},
        ),
        ({"probability": 0.1}, 2, {"random": {"times": 2, "probability": 0.1}}),
    ],
)
def test_a_frequency_sets_the_trigger_for_each_kind_of_rule(
    trigger: dict[str, Any], frequency: int, expected: dict[str, Any]
) -> None:
    (rule,) = with_frequency(triggered(trigger, per="url"), frequency).rules

    assert rule.trigger.model_dump(exclude_none=True) == expected
    assert rule.per == "rule"


def test_a_condition_gets_its_dose() -> None:
    scenario = dosed_scenario(condition("failing/scripts", intensity=0.5, frequency=3), None)

    assert scenario is not None
    (rule,) = scenario.rules
    assert rule.trigger.random is not None
    assert (rule.trigger.random.times, rule.per) == (3, "rule")
    assert getattr(rule.fault, "delay", None) == 5.0


def test_a_dose_that_would_be_cut_is_refused() -> None:
    with pytest.raises(ScenarioError) as caught:
        dosed_scenario(condition("paper/javascript", intensity=4), 20)

    assert str(caught.value) == (
        "condition 'x': its intensity makes a hold of 40 s, which longest_hold_s = 20 would cut:"
        " leave out one of the two"
    )


def test_a_control_and_a_defence_alone_have_no_scenario() -> None:
    assert dosed_scenario(ConditionConfig(name="x", control=True), 2) is None
    assert (
        dosed_scenario(ConditionConfig.model_validate({"name": "x", "defence": "refresh"}), 2)
        is None
    )


def campaign(*conditions: dict[str, Any]) -> CampaignConfig:
    agents = [{"name": "a", "model": "m"}]
    fields = {"name": "c", "agents": agents, "conditions": list(conditions)}
    return CampaignConfig.model_validate(fields)


def test_one_intensity_for_all_spares_what_has_no_size_and_says_so() -> None:
    inputs = campaign(
        {"name": "clean"},
        {"name": "late", "scenario": "paper/network-error", "intensity": 3},
        {"name": "down", "scenario": "paper/server-error"},
    )

    config, skipped = with_intensity(inputs, 2)

    assert [each.intensity for each in config.conditions] == [None, 2, None]
    assert skipped == ("down",)


def test_one_intensity_for_nothing_is_refused() -> None:
    config = campaign({"name": "clean"}, {"name": "down", "scenario": "paper/server-error"})

    with pytest.raises(CampaignError, match="no condition of the campaign 'c' has a fault with a"):
        with_intensity(config, 2)


def test_a_campaign_keeps_where_it_came_from() -> None:
    demo = load_campaign("demo")

    assert with_intensity(demo, 0.1)[0].source == "demo"
