"""Has the loop of TRL's ``HarnessRolloutWorker`` run episodes; where OpenEnv and TRL are installed.

The worker itself starts that loop in a process of its own, and only where vLLM is installed.
"""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openenv.core.harness.capture.upstream import training_sampling
from trl.experimental.async_grpo.openenv_harness import _HarnessRolloutLoop

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


def rollout(factory: SessionFactory) -> dict[str, Any]:
    """Return what TRL makes of one episode."""
    loop = object.__new__(_HarnessRolloutLoop)
    loop._factory = factory
    loop._adapter = loop._rollout_reward_fn = None
    loop._live_sessions, loop._stop_event = set(), asyncio.Event()
    loop._fork_threshold_tokens = 0
    prompt = [{"role": "user", "content": "Find the button."}]
    (messages, ids, sequences, _, _, reward), _ = loop._run_session(prompt, group_id=3)
    return {
        "last message": messages[-1] if messages else None,
        "ids": ids,
        "rows": [[it.input_ids, it.completion_mask, it.old_log_probs] for it in sequences],
        "reward": reward,
    }


def main(out: Path) -> None:
    """Print the rollouts with a server that returns tokens, and with one that does not."""
    rollouts = []
    with served() as origin:

        @contextmanager
        def start(prompt: object, seed: int) -> Iterator[EpisodeTask]:
            site = f"{MODEL_ORIGIN}=http://127.0.0.1:{origin.port}"
            yield EpisodeTask(lambda it: 1.0, (sys.executable, "-c", AGENT), maps=(site,))

        for has_tokens in (True, False):
            origin.reset()
            TokenModel(origin, has_tokens=has_tokens)
            with SessionFactory(
                start,
                "paper/server-error",
                out=out / str(has_tokens),
                plan=lambda prompt, seed, place: EpisodePlan(is_faulted=False),
                sampling=training_sampling({"temperature": 1.0}),
                capture_tokens=["model.warex.test"],
            ) as factory:
                rollouts.append(rollout(factory))
    print(json.dumps(rollouts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
