"""Whether the agent recovered from a fault, and whether it detected it.

Recovery is the agent's own: after the fault the model was asked, and an action it chose explains
that the right request was made next. Browsers reload error pages by themselves and pages fetch
again by themselves; that heals the trial and says nothing about the agent.

``story`` holds what a trace tells, ``right`` says which request is the right one, ``explaining``
which action led to a request, ``judge`` gives the verdict, ``model_faults`` that on calls to a
model, ``lies`` what became of an answer that was not true, ``detection`` reads the model's words.

Source: the paper, section 5.2 (recovery rate).
"""

from warex.analysis.recovery.classification import recoveries
from warex.analysis.recovery.detection import claims_success
from warex.analysis.recovery.verdicts import (
    HEALED_VERDICTS,
    RATED_VERDICTS,
    LieOutcome,
    Recovery,
    RecoveryVerdict,
    lies_in,
    trial_recovered,
)

__all__ = [
    "HEALED_VERDICTS",
    "RATED_VERDICTS",
    "LieOutcome",
    "Recovery",
    "RecoveryVerdict",
    "claims_success",
    "lies_in",
    "recoveries",
    "trial_recovered",
]
