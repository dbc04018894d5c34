"""One agent, one task, one condition, once."""

from warex.trials.run import Setting, TrialSpec, run_trial

__all__ = ["Setting", "TrialSpec", "run_trial"]
