"""From when on a harness that opens the first page itself bears a scenario."""

from warex.scenarios import Arm, Scenario

PATIENCE = 25.0
"""Seconds that a first page may be held: Playwright gives it 30."""


def arm_on_first_page(scenario: Scenario, patience: float = PATIENCE) -> Arm:
    """Return from when on Playwright's ``goto``, which nobody guards, bears the scenario.

    It shows whatever page it is answered with, and raises where there is no answer in time.
    """
    borne = all(
        rule.fault.responds_within(patience) and not (rule.targets_llm or rule.targets_mcp)
        for rule in scenario.rules
    )
    return "first_page" if borne else "first_llm_call"
