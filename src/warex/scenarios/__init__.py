"""Which exchanges get which fault, and when."""

from warex.scenarios.injection.connection_tries import Gate
from warex.scenarios.injection.injector import Injector, LeftAlone
from warex.scenarios.injection.planner import NOTHING, Decision, Injection
from warex.scenarios.injection.rule_state import Mark, Schedule
from warex.scenarios.matching.exclusions import BACKGROUND_HOSTS, NEVER
from warex.scenarios.scenario import SITES, Match, Random, Rule, Scenario, Trigger
from warex.traffic import Arm

__all__ = [
    "BACKGROUND_HOSTS",
    "NEVER",
    "NOTHING",
    "SITES",
    "Arm",
    "Decision",
    "Gate",
    "Injection",
    "Injector",
    "LeftAlone",
    "Mark",
    "Match",
    "Random",
    "Rule",
    "Scenario",
    "Schedule",
    "Trigger",
]
