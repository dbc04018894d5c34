"""Makes the faults of a scenario larger or smaller."""

from collections.abc import Callable

from pydantic import ValidationError

from warex.errors import ScenarioError
from warex.scenarios.scenario import Rule, Scenario


def with_each_rule(scenario: Scenario, change: Callable[[Rule], Rule]) -> Scenario:
    """Return the scenario with each rule changed."""
    return scenario.model_copy(update={"rules": tuple(map(change, scenario.rules))})


def scaled(scenario: Scenario, intensity: float) -> Scenario:
    """Return the scenario with each fault's size multiplied. Raises ScenarioError if impossible."""
    return with_each_rule(scenario, lambda rule: _scaled(rule, intensity))


def sizes_of(rule: Rule) -> dict[str, float]:
    """Return the parameters of a rule's fault that its intensity multiplies, but for zeros."""
    sizes = rule.fault.model_dump(include=set(rule.fault.sizes))
    return {name: value for name, value in sizes.items() if value}


def _scaled(rule: Rule, intensity: float) -> Rule:
    sizes = sizes_of(rule)
    if intensity == 1:
        return rule
    where = f"its rule {rule.name!r} cannot hit {intensity:g} times as hard"
    if not sizes:
        kind = rule.fault.kind
        named = " and ".join(rule.fault.sizes)
        why = f"the size of {kind} is its {named}, which is 0" if named else f"{kind} has no size"
        raise ScenarioError(f"{where}: {why}")
    changed = {name: value * intensity for name, value in sizes.items()}
    try:
        fault = type(rule.fault).model_validate({**rule.fault.model_dump(), **changed})
    except ValidationError as error:
        mistake = error.errors(include_url=False)[0]
        raise ScenarioError(
            f"{where}: its {mistake['loc'][0]} would be {mistake['input']:g}: {mistake['msg']}"
        ) from None
    return rule.model_copy(update={"fault": fault})
