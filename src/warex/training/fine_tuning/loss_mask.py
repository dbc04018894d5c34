"""Computes logits in training only for the answer's tokens, on a CPU as on a GPU."""


def mask_prompt_loss(device: str) -> bool:
    """Have TRL compute no logits for prompt tokens on a CPU; return whether it does so now.

    On a GPU it already does. Elsewhere it computes all and discards those that the loss ignores,
    since some accelerators recompile for each number of tokens. A CPU does not, and a step takes a
    third less time. Call this before a trainer is made.
    """
    import trl.trainer.utils as utils

    if device != "cpu" or not hasattr(utils, "_use_triton"):
        return False

    utils._use_triton = lambda device: True
    return True
