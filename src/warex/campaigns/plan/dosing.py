"""Applies a condition's dose to its scenario: intensity, frequency, and longest hold."""

from collections.abc import Mapping

from pydantic import JsonValue

from warex.campaigns.config.campaign import CampaignConfig, ConditionConfig
from warex.errors import CampaignError, ScenarioError
from warex.scenarios import Rule, Scenario
from warex.scenarios.intensity import scaled, sizes_of, with_each_rule
from warex.scenarios.load import load_scenario
from warex.scenarios.paper_config import DEFAULT_PROBABILITY, frequency_trigger
from warex.scenarios.scenario import Trigger


def dosed_scenario(condition: ConditionConfig, longest_hold_s: float | None) -> Scenario | None:
    """Return the scenario at the condition's dose, its holds capped; None without a scenario.

    Raises ScenarioError if it cannot be loaded or cannot have that dose.
    """
    if condition.scenario is None:
        return None
    try:
        scenario = load_scenario(condition.scenario)
        if condition.frequency is not None:
            scenario = with_frequency(scenario, condition.frequency)
        if condition.first is not None:
            scenario = with_first(scenario, condition.first)
        if condition.intensity is None:
            return with_capped_delays(scenario, longest_hold_s)
        return _require_uncapped(scaled(scenario, condition.intensity), longest_hold_s)
    except ScenarioError as error:
        raise ScenarioError(f"condition {condition.name!r}: {error}") from None


def with_frequency(scenario: Scenario, frequency: int) -> Scenario:
    """Return the scenario with the paper's frequency (§3.3) as each rule's trigger.

    Matches are counted per rule, since the paper counts injections per task. Windows are kept, as
    is the probability of a rule that has one.
    """

    def changed(rule: Rule) -> Rule:
        trigger = frequency_trigger(frequency, _probability(rule.trigger))
        return _triggered(rule, trigger).model_copy(update={"per": "rule"})

    return with_each_rule(scenario, changed)


def with_first(scenario: Scenario, times: int) -> Scenario:
    """Return the scenario with each rule hitting its first matches, within its windows."""
    return with_each_rule(scenario, lambda rule: _triggered(rule, {"first": times}))


def _probability(trigger: Trigger) -> float:
    if trigger.random is not None:
        return trigger.random.probability
    return DEFAULT_PROBABILITY if trigger.probability is None else trigger.probability


def _triggered(rule: Rule, trigger: Mapping[str, JsonValue]) -> Rule:
    unchanged = rule.trigger.model_dump(include={"between", "after_step", "trials"})
    return rule.model_copy(update={"trigger": Trigger.model_validate({**trigger, **unchanged})})


def with_capped_delays(scenario: Scenario, longest_hold_s: float | None) -> Scenario:
    """Return the scenario with no fault holding an exchange longer than ``longest_hold_s``."""
    if longest_hold_s is None:
        return scenario
    return with_each_rule(
        scenario,
        lambda rule: rule.model_copy(
            update={"fault": rule.fault.with_hold_at_most(longest_hold_s)}
        ),
    )


def with_intensity(
    config: CampaignConfig, intensity: float
) -> tuple[CampaignConfig, tuple[str, ...]]:
    """Return the campaign with this intensity wherever possible, and the skipped conditions.

    Those have a scenario with a fault without a size, and are unchanged. Raises CampaignError if no
    condition can have an intensity.
    """
    if not 0 < intensity <= 100:
        raise CampaignError(f"{intensity:g} is not an intensity; give a number above 0 to 100")
    skipped = tuple(
        each.name
        for each in config.conditions
        if (scenario := dosed_scenario(each.model_copy(update={"intensity": None}), None))
        is not None
        and not all(map(sizes_of, scenario.rules))
    )
    with_one = [each.name for each in config.conditions if each.scenario is not None]
    if skipped == tuple(with_one):
        raise CampaignError(
            f"no condition of the campaign {config.name!r} has a fault with a size, so there is"
            f" nothing to make {intensity:g} times as large"
        )
    conditions = tuple(
        each.model_copy(update={"intensity": intensity})
        if each.scenario is not None and each.name not in skipped
        else each
        for each in config.conditions
    )
    return config.model_copy(update={"conditions": conditions}), skipped


def _require_uncapped(scenario: Scenario, longest_hold_s: float | None) -> Scenario:
    """Return the scenario; raise ScenarioError if the longest hold would reduce its dose."""
    if with_capped_delays(scenario, longest_hold_s) != scenario:
        longest = max(rule.fault.held_s for rule in scenario.rules)
        raise ScenarioError(
            f"its intensity makes a hold of {longest:g} s, which longest_hold_s ="
            f" {longest_hold_s:g} would cut: leave out one of the two"
        )
    return scenario
