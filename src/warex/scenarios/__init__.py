"""Which exchanges get which fault, and when."""

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
