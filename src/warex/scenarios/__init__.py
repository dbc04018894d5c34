"""Which exchanges get which fault, and when."""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from warex.scenarios.injection.connection_tries import TryOutcome
    from warex.scenarios.injection.injector import Injector, SkippedMatches
    from warex.scenarios.injection.planner import NO_INJECTION, Decision, PlannedInjection
    from warex.scenarios.injection.rule_state import CountPosition, InjectionSchedule
    from warex.scenarios.matching.exclusions import EXCLUSIONS
    from warex.scenarios.scenario import SITES, Match, Random, Rule, Scenario, Trigger
    from warex.traffic import Arm

__all__ = [
    "EXCLUSIONS",
    "NO_INJECTION",
    "SITES",
    "Arm",
    "CountPosition",
    "Decision",
    "InjectionSchedule",
    "Injector",
    "Match",
    "PlannedInjection",
    "Random",
    "Rule",
    "Scenario",
    "SkippedMatches",
    "Trigger",
    "TryOutcome",
]

_HOMES: Final = {
    "warex.scenarios.injection.connection_tries": ("TryOutcome",),
    "warex.scenarios.injection.injector": ("Injector", "SkippedMatches"),
    "warex.scenarios.injection.planner": ("NO_INJECTION", "Decision", "PlannedInjection"),
    "warex.scenarios.injection.rule_state": ("CountPosition", "InjectionSchedule"),
    "warex.scenarios.matching.exclusions": ("EXCLUSIONS",),
    "warex.scenarios.scenario": ("SITES", "Match", "Random", "Rule", "Scenario", "Trigger"),
    "warex.traffic": ("Arm",),
}


def __getattr__(name: str) -> object:
    """Import a name on first access: the list of presets, and completion, need none of them."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
