"""Checks that the loss falls on the answer's tokens, and computes no others' logits on a CPU."""

import json
from collections.abc import Mapping
from typing import Any

from warex.errors import InputError


def require_answer_after_prompt(tokenizer: Any, example: Mapping[str, Any]) -> None:
    """Raise InputError if a chat template does not write an example's answer behind its prompt.

    The loss falls on all tokens behind those of the prompt alone. A template that writes a prompt
    in another way once an answer follows would put other tokens there.
    """
    tools = json.loads(example["tools"]) if "tools" in example else None
    prompt = example["prompt"]
    before = tokenizer.apply_chat_template(
        prompt, tools=tools, add_generation_prompt=True, tokenize=True, return_dict=False
    )
    for name in ("completion", "chosen", "rejected"):
        if name not in example:
            continue
        both = tokenizer.apply_chat_template(
            [*prompt, *example[name]], tools=tools, tokenize=True, return_dict=False
        )
        if both[: len(before)] != before or len(both) == len(before):
            raise InputError(
                f"the chat template of {tokenizer.name_or_path} writes a prompt in another way when"
                " an answer follows, so the answer's tokens cannot be separated from the prompt's:"
                " give the model a template that writes both alike"
            )


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
