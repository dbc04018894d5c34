"""Decides when faults begin for a harness that opens the first page itself."""

from collections.abc import Iterator

from warex.scenarios import Arm, Scenario

PATIENCE = 25.0
"""Seconds that a first page may be held; Playwright's time limit is 30."""


def arm_on_first_page(scenario: Scenario, patience: float = PATIENCE) -> Arm:
    """Return ``first_page`` if Playwright's ``goto`` does not raise under the scenario.

    It accepts any answer, and raises if there is none in time.
    """
    early = _answered_in_time(scenario, patience) and not any(
        rule.targets_llm or rule.targets_mcp for rule in scenario.rules
    )
    return "first_page" if early else "first_llm_call"


def arm_unknown_harness(scenario: Scenario) -> Arm:
    """Return when faults begin for a harness of which it is unknown who opens the first page.

    If the agent does, waiting for its model would spare the page that matters. If the harness does,
    it may die of a page that does not come, but bears any answer; it asks no model.
    """
    early = _answered_in_time(scenario, PATIENCE) and not any(
        rule.targets_mcp for rule in scenario.rules
    )
    return "first_page_or_llm_call" if early else "first_llm_call"


def spared_first_page(scenario: Scenario) -> Iterator[str]:
    """Yield a warning if faults wait for a model's call, and could have hit a page before it."""
    rules = [rule for rule in scenario.rules if not (rule.targets_llm or rule.targets_mcp)]
    if rules:
        yield (
            "begins with the agent's first call to its model, since a harness that opens the first"
            " page itself may die of a page that does not come; an agent that opens its page before"
            ' it asks its model meets no fault there: options.arm = "first_page_or_llm_call" lets'
            " the faults begin with whichever comes first"
        )


def _answered_in_time(scenario: Scenario, patience: float) -> bool:
    """Whether each page of a site is answered in time."""
    return all(rule.targets_llm or rule.fault.responds_within(patience) for rule in scenario.rules)
