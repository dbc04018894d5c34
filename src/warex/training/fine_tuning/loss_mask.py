"""Which tokens are scored in training: those of the answer, on a processor as on a card."""

from typing import Any


def mask_prompt_loss(device: str) -> bool:
    """Have TRL score no token of the prompt on a processor; return whether it scores none.

    On a card it scores none itself; elsewhere it scores all and throws away what the loss does not
    count, since some accelerators compile anew for each number of tokens. A processor does not, and
    a step takes a third less time. Call it before a trainer is made.
    """
    import trl.trainer.utils as utils

    if device != "cpu" or not hasattr(utils, "_use_triton"):
        return False

    def only_where_it_counts(device: Any) -> bool:
        return True

    utils._use_triton = only_where_it_counts
    return True
