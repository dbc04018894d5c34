"""The model endpoint of the collected agents: OpenAI's chat completions, answered by policies."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.analysis.trajectories.collector.policy import Policy
from tests.analysis.trajectories.collector.wording import say
from tests.http_server import Handler, serving


def _completion(policy: Policy, seen: str) -> dict[str, Any]:
    decision = policy.decide(seen)
    result = say(decision, policy.wording, policy.talk, policy.rng)
    time.sleep(decision.slow)
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(result.tool_calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": result.content}
    if calls:
        message["tool_calls"] = calls
    finish = "tool_calls" if calls else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        "actions": decision.actions,
    }


class _Endpoint(Handler):
    policies: dict[str, Policy]

    def do_POST(self) -> None:
        asked = json.loads(self.read_body())
        policy = self.policies[asked["user"]]
        body = json.dumps(_completion(policy, asked["messages"][-1]["content"])).encode()
        self.reply(body, "application/json")


@contextmanager
def serve(policies: dict[str, Policy]) -> Iterator[int]:
    """Answer for every trial by its policy; yield the port."""
    with serving(type("_Policies", (_Endpoint,), {"policies": policies})) as port:
        yield port
