"""Which exchanges get which fault, and when."""

from warex.scenarios.attempts import Gate
from warex.scenarios.counting import Mark, Schedule
from warex.scenarios.injector import Injector, LeftAlone
from warex.scenarios.never import BACKGROUND_HOSTS, NEVER
from warex.scenarios.planning import NOTHING, Decision, Injection
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
