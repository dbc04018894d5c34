"""Which tokens' scores are computed in training: those of the answer, on a processor as on a card."""

from typing import Any


def score_answers_only(device: str) -> bool:
    """Have TRL compute no scores of the vocabulary where the loss does not count; return whether so.

    On a card it does so itself; elsewhere it scores each token of the prompt, too, and throws that
    away, since a changing number of tokens would make some accelerators compile anew. A processor
    compiles nothing, and a step takes a third less. Call it before a trainer is made.
    """
    import trl.trainer.utils as utils

    if device != "cpu" or not hasattr(utils, "_use_triton"):
        return False

    def only_where_it_counts(device: Any) -> bool:
        return True

    utils._use_triton = only_where_it_counts
    return True
