"""One agent, one task, one condition, once."""

from warex.trials.context import TrialContext, TrialSpec
from warex.trials.runner import run_trial

__all__ = ["TrialContext", "TrialSpec", "run_trial"]
