"""Whether the agent recovered from a fault, and whether it detected it.

An agent recovered if its model was asked after the fault, and an action that the model chose led to
the right next request. A reload by the browser, or a repeated fetch by the page, heals the trial,
but is not a recovery.

``trial_events`` reads the trace, ``right_requests`` finds the right next requests, ``causes`` the
action that led to a request, ``task_path`` what the task requests anyhow (``twin``: in its clean
trial), ``classification`` gives the verdict, ``kinds`` that on faults with rules of their own,
``detection`` and ``claims`` read the model's words (``words``).

Source: the paper, section 5.2 (recovery rate).
"""

from warex.analysis.recovery.claims import Claim, claim_of
from warex.analysis.recovery.classification import recoveries
from warex.analysis.recovery.twin import Twin
from warex.analysis.recovery.verdicts import (
    HEALED_VERDICTS,
    Recovery,
    RecoveryVerdict,
    lies_in,
    trial_recovered,
)

__all__ = [
    "HEALED_VERDICTS",
    "Claim",
    "Recovery",
    "RecoveryVerdict",
    "Twin",
    "claim_of",
    "lies_in",
    "recoveries",
    "trial_recovered",
]
