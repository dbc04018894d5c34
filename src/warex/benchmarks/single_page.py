"""Lint warnings for single-page applications, whose document is loaded once."""

from collections.abc import Iterator
from typing import Final

from warex.scenarios import Arm, Scenario

_DATA: Final = frozenset({"xhr", "other"})
"""Resources that such a site requests while it is used, apart from chunks of new views."""


def spa_warnings(scenario: Scenario, arm: Arm, sites: str) -> Iterator[str]:
    """Yield a lint warning for each rule that may match no request.

    ``arm`` is when faults begin; ``sites`` names the sites in the warning.
    """
    for rule in scenario.rules:
        if not rule.resources or _DATA.intersection(rule.resources):
            continue
        what = " and ".join(sorted(f"{each}s" for each in rule.resources))
        if arm == "first_llm_call" or rule.trigger.after_step:
            yield (
                f"rule {rule.name!r} hits {what}, from the agent's first step on; {sites} are"
                " single-page applications, whose document and scripts are loaded before it, but"
                " for a view's own chunks. It may reach no trial; the presets spa/… reach the data"
                " that such a site asks for"
            )


def replaces_document(scenario: Scenario) -> bool:
    """Return whether a rule affects documents, so that the page must be loaded again."""
    return any("document" in rule.resources for rule in scenario.rules)
