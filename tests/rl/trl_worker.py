"""Has TRL's ``HarnessRolloutWorker`` play a group of episodes; where OpenEnv and TRL are installed.

The worker starts a process of its own, which asks for the sessions. It refuses to start where no
package ``vllm`` is installed, though it uses nothing of it where the agent calls the model itself.
That check alone is replaced here. A placeholder package would not pass: where TRL finds ``vllm``,
it imports parts of it.
"""

import atexit
import json
import multiprocessing
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from accelerate import PartialState
from datasets import Dataset
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast
from trl.experimental.async_grpo import async_rollout_worker
from trl.experimental.async_grpo.openenv_harness import HarnessRolloutWorker

from tests.proxy.support.origin import served
from tests.proxy.support.token_model import TokenModel
from warex.rl import EpisodePlan, EpisodeTask, SessionFactory
from warex.rl.testbed import MODEL_ORIGIN

AGENT = f"""
import json, urllib.request
messages = [{{"role": "user", "content": "Which?"}}]
body = json.dumps({{"model": "policy", "messages": messages}}).encode()
request = urllib.request.Request("{MODEL_ORIGIN}/v1/chat/completions", data=body)
urllib.request.urlopen(request).read()
"""
REWARDS = (1.0, 0.0, 0.0)
"""Of the episodes of a group; the last one's model server returns no tokens."""
WAIT_S = 120
stack = ExitStack()
"""Of the worker's process."""
atexit.register(stack.close)


def sessions(sampling: Mapping[str, Any]) -> SessionFactory:
    """Return the factory of the worker's process, which calls this."""
    origins = [stack.enter_context(served()) for _ in range(2)]
    for origin, has_tokens in zip(origins, (True, False), strict=True):
        TokenModel(origin, has_tokens=has_tokens)
    episodes = count()

    @contextmanager
    def start(prompt: object, seed: int) -> Iterator[EpisodeTask]:
        number = next(episodes) % len(REWARDS)
        origin = origins[number == len(REWARDS) - 1]
        site = f"{MODEL_ORIGIN}=http://127.0.0.1:{origin.port}"
        yield EpisodeTask(
            lambda it: REWARDS[number], (sys.executable, "-S", "-c", AGENT), maps=(site,)
        )

    return stack.enter_context(
        SessionFactory(
            start,
            "paper/server-error",
            out=Path(sys.argv[1]),
            plan=lambda prompt, seed, place: EpisodePlan(is_faulted=False),
            sampling=sampling,
            capture_tokens=["model.warex.test"],
        )
    )


def main() -> None:
    """Print what the worker hands to a trainer of the first group, and how its process ends.

    The comparison with OpenEnv's classes is made here, too, since the imports take long.
    """
    from tests.rl.openenv_classes import comparison

    PartialState()  # As the trainer has made it; the worker's logging needs it.
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({"a": 0}, "a")))
    tokenizer.response_template = ""  # Only a worker that samples the turns itself uses it.
    with patch.object(async_rollout_worker, "is_vllm_available", lambda: True):
        worker = HarnessRolloutWorker(
            harness_session_factory=sessions,
            model_name="policy",
            dataset=Dataset.from_list([{"prompt": [{"role": "user", "content": "Find it."}]}]),
            reward_funcs=[],
            processing_class=tokenizer,
            eos_token_ids=[2],
            num_generations=len(REWARDS),
            max_inflight_tasks=1,
        )
    worker.start()
    (process,) = multiprocessing.active_children()
    try:
        samples = [worker.rollout_buffer.get(timeout=WAIT_S) for _ in REWARDS[:-1]]
        worker.check_health(stale_after_s=WAIT_S)
    finally:
        worker.stop()
    rows = [
        {
            "last message": it.completion[-1],
            "ids": it.input_ids.tolist(),
            "mask": it.completion_mask.tolist(),
            "logprobs": it.old_log_probs.tolist(),
            "advantage": round(it.advantage, 6),
            "reward": it.metrics["reward"],
            "group": it.group_id,
        }
        for it in samples
    ]
    print(json.dumps({"classes": comparison(), "rows": rows, "exit code": process.exitcode}))


if __name__ == "__main__":
    main()
