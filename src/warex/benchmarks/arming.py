"""Decides when faults begin for a harness that opens the first page itself."""

from warex.scenarios import Arm, Scenario

PATIENCE = 25.0
"""Seconds that a first page may be held; Playwright's time limit is 30."""


def arm_on_first_page(scenario: Scenario, patience: float = PATIENCE) -> Arm:
    """Return ``first_page`` if Playwright's ``goto`` does not raise under the scenario.

    It accepts any answer, and raises if there is none in time.
    """
    borne = all(
        rule.fault.responds_within(patience) and not (rule.targets_llm or rule.targets_mcp)
        for rule in scenario.rules
    )
    return "first_page" if borne else "first_llm_call"
