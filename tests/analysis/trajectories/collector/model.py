"""The endpoint that the collected agents ask: OpenAI's chat completions, played by policies."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from tests.analysis.trajectories.collector.policy import Policy
from tests.analysis.trajectories.collector.wording import say


def _completion(policy: Policy, seen: str) -> dict[str, Any]:
    decision = policy.decide(seen)
    said = say(decision, policy.wording, policy.talk, policy.rng)
    time.sleep(decision.slow)
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for number, (name, arguments) in enumerate(said.tool_calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": said.content}
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


class _Endpoint(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    policies: dict[str, Policy]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        policy = self.policies[asked["user"]]
        body = json.dumps(_completion(policy, asked["messages"][-1]["content"])).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serve(policies: dict[str, Policy]) -> Iterator[int]:
    """Answer for every trial by its policy; yield the port."""
    handler = type("_Policies", (_Endpoint,), {"policies": policies})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()
