"""Lint warnings about a campaign's conditions, before anything is paid for."""

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from warex.campaigns.config.campaign import CampaignConfig
from warex.scenarios import Scenario
from warex.scenarios.lint.linter import hopeless_rules, rules_without_effect
from warex.scenarios.scenario import Rule
from warex.text.english import of_number

if TYPE_CHECKING:
    from warex.campaigns.plan.campaign_plan import CampaignPlan


def lint_warnings(planned: "CampaignPlan") -> tuple[str, ...]:
    """Return sentences about conditions that may not work on the campaign's benchmark."""
    any_of = {spec.key.condition: spec for spec in planned.trials}
    sites = _sites(planned)
    by_warning: dict[str, list[str]] = {}
    for each in planned.config.conditions:
        spec = any_of.get(each.name)
        if spec is not None and spec.scenario is not None:
            warnings = (
                *planned.benchmark.lint(spec.scenario, spec.key.task),
                *_never_hits(spec.scenario, planned.config, sites),
            )
            for warning in warnings:
                by_warning.setdefault(warning, []).append(repr(each.name))
    return tuple(
        f"{of_number(len(names), 'condition')} {', '.join(names)}: {warning}"
        for warning, names in by_warning.items()
    )


def inert_conditions(planned: "CampaignPlan") -> dict[str, str]:
    """Return the conditions with a scenario of which no rule can ever hit, each with the reason."""
    sites, reasons = _sites(planned), dict[str, str]()
    scenarios = {spec.key.condition: spec.scenario for spec in planned.trials}
    for condition, scenario in scenarios.items():
        if scenario is None:
            continue
        why = hopeless_rules(scenario, sites) | {
            rule.name: (f"begins {when}.",)
            for rule in scenario.rules
            if (when := _begins_too_late(rule, planned.config))
        }
        if all(rule.name in why for rule in scenario.rules):
            first = next(iter(why), None)
            reason = f"rule {first!r} {why[first][0]}" if first else "it has no rules"
            reasons[condition] = reason.rstrip(".")
    return reasons


def _sites(planned: "CampaignPlan") -> tuple[str, ...]:
    """Return the origins of all tasks' sites; () if a task may visit any site."""
    tasks = dict.fromkeys(spec.key.task for spec in planned.trials)
    of_tasks = [planned.benchmark.sites(task) for task in tasks]
    return tuple(dict.fromkeys(chain.from_iterable(of_tasks))) if all(of_tasks) else ()


def _never_hits(
    scenario: Scenario, config: CampaignConfig, sites: tuple[str, ...]
) -> Iterator[str]:
    """Yield a sentence for each rule that cannot match in any trial of the campaign."""
    yield from rules_without_effect(scenario, sites)
    for rule in scenario.rules:
        if when := _begins_too_late(rule, config):
            yield f"Rule {rule.name!r} may reach no trial: it begins {when}."


def _begins_too_late(rule: Rule, config: CampaignConfig) -> str:
    """Say when a rule begins to apply, if the campaign's agents have ended by then."""
    most = max(agent.max_steps for agent in config.agents)
    after, window = rule.trigger.after_step, rule.trigger.between
    if after is not None and after > most:
        return f"after step {after}, and no agent takes more than {most} (max_steps)"
    if window is not None and window[0] >= config.timeout_s:
        return (
            f"at second {window[0]:g}, and agents are stopped after {config.timeout_s:g} s"
            " (timeout_s)"
        )
    return ""
