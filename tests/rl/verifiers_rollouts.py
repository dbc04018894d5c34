"""Has the classes of ``verifiers`` play episodes of the testbed; where that is installed."""

import asyncio
import json
import re
import shlex
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.utils.loaders import load_environment, resolve_env_config

TASK = "calendar-budget-review-room"
AGENT = """
import json, os, sys, urllib.error, urllib.request
task, url, base_url, out = sys.argv[1:]

def get(request):
    try:
        return urllib.request.urlopen(request).read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode()

messages, answer = [{"role": "system", "content": task}], None
for step in range(4):
    page = urllib.request.Request(url, headers={"accept": "text/html"})
    messages.append({"role": "user", "content": get(page)})
    request = urllib.request.Request(
        base_url + "/chat/completions",
        json.dumps({"model": "policy", "messages": messages}).encode(),
        {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]},
    )
    message = json.loads(get(request))["choices"][0]["message"]
    messages.append(message)
    action, _, rest = message["content"].partition(" ")
    if action == "open":
        url = "https://calendar.warex.test" + rest
    if action == "answer":
        answer = rest
        break
open(out + "/result.json", "w").write(json.dumps({"answer": answer}))
"""


class Policy(BaseHTTPRequestHandler):
    """Reloads what is no page of the calendar, or, as ``giveup``, ends there."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        page = asked["messages"][-1]["content"]
        link = re.search(r'href="(/events/[^"]+)"[^>]*Budget review', page)
        if "Juniper" in page:
            text = "answer It is in Juniper."
        elif link:
            text = f"open {link[1]}"
        else:
            text = "answer unknown" if asked["model"] == "giveup" else "reload"
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps(
            {"id": "c", "object": "chat.completion", "created": 0, "model": asked["model"]}
            | {"choices": [choice]}
        ).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


async def play(
    server: str,
    model: str,
    out: Path,
    rollouts: int,
    taskset: dict[str, Any],
    harness: dict[str, Any],
    **agent: Any,
) -> list[list[dict[str, Any]]]:
    """Return, for each task, what its rollouts came to."""
    command = shlex.join([sys.executable, "-c", AGENT])
    command += " {task} {start_url} {base_url} {out}"
    config = resolve_env_config(
        {
            "taskset": {"id": "warex-testbed-v1", "tasks": [TASK], **taskset},
            "agent": {
                "harness": {"command": command, "out": out, **harness},
                **agent,
            },
        }
    )
    env = load_environment(config)
    client = vf.EvalClientConfig(base_url=server, api_key_var="NO_KEY")
    context = vf.ModelContext(client=client, model=model, sampling=vf.SamplingConfig())
    async with env.serving():
        tasks = list(env.taskset)
        slots = [env.slots(task, rollouts) for task in tasks]
        await asyncio.gather(*(env.run_slot(it, context) for group in slots for it in group))
    return [[outcome(slot.episode.traces[0]) for slot in group] for group in slots]


def outcome(trace: vf.Trace) -> dict[str, Any]:
    reward = trace.rewards.get("solved")
    return {
        "name": trace.task.data.name,
        "prompt": trace.task.data.prompt,
        "group": trace.task.key,
        "ok": trace.ok,
        "reward": None if reward is None else reward.score,
        "faulted": trace.metrics.get("faulted"),
        "delivered": trace.metrics.get("delivered"),
        "replies": [it.content for it in trace.assistant_messages],
        "error": trace.last_error and trace.last_error.message,
    }


@contextmanager
def served() -> Any:
    with ThreadingHTTPServer(("127.0.0.1", 0), Policy) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


async def play_all(server: str, out: Path) -> dict[str, Any]:
    """Return the outcomes of a patient policy, of one that gives up, and of agents that hang."""
    scenario = out.with_suffix(".json")
    fault = {"kind": "http_error", "status": 503}
    rule = {"name": "down", "match": {"url": "*/"}, "trigger": {"first": 1}, "fault": fault}
    scenario.write_text(json.dumps({"name": "down", "rules": [rule]}))
    every = {"conditions": ["clean", "faulted", "mixed"], "scenarios": [str(scenario)]}
    faulted = {**every, "conditions": ["faulted"]}
    hang = {"command": shlex.join([sys.executable, "-c", "import time; time.sleep(600)"])}
    playing = {
        "patient": play(server, "patient", out, 2, every, {}),
        "giveup": play(server, "giveup", out, 1, faulted, {}),
        "hangs": play(server, "none", out, 1, faulted, {**hang, "timeout_s": 1.0}),
        "cancelled": play(server, "none", out, 1, faulted, hang, timeout={"rollout": 2.0}),
    }
    return dict(zip(playing, await asyncio.gather(*playing.values()), strict=True))


def strengths() -> list[tuple[str, float]]:
    """Return the name and the intensity of each task of a taskset with two intensities."""
    taskset = {"id": "warex-testbed-v1", "tasks": [TASK], "intensities": [1, 2.5]}
    env = load_environment(resolve_env_config({"taskset": taskset}))
    return [(task.data.name, task.data.intensity) for task in env.taskset]


def main(out: Path) -> None:
    """Print the outcomes."""
    with served() as url:
        outcomes = asyncio.run(play_all(url, out))
    print(json.dumps({**outcomes, "strengths": strengths()}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
