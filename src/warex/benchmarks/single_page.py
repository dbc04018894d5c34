"""What a scenario does not reach on a site that is one page: it has one document, loaded once."""

from collections.abc import Iterator
from typing import Final

from warex.scenarios import Arm, Rule, Scenario

_DATA: Final = frozenset({"xhr", "other"})
"""What such a site asks for while it is used; chunks of a view not opened before come beside."""


def spa_warnings(scenario: Scenario, arm: Arm, sites: str) -> Iterator[str]:
    """Yield a sentence for each rule that may find nothing to hit.

    ``arm`` is from when on the benchmark bears the scenario; ``sites`` says whose sites they are.
    """
    for rule in scenario.rules:
        if not _loads_once(rule):
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
    """Return whether a rule takes a page away that only asking for it again brings back."""
    return any("document" in rule.resources for rule in scenario.rules)


def _loads_once(rule: Rule) -> bool:
    return bool(rule.resources) and not _DATA.intersection(rule.resources)
