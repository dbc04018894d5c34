"""An agent without a browser: tools that fetch, and a shell.

Options: `client` of `http_get` and `http_post`: `requests`, `urllib3` (three retries of its own),
`httpx` (a transport that connects again), `urllib`; the tool `bash` runs a command.
"""

import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from tests.analysis.trajectories.second_collector.agents.browser import first_line
from tests.analysis.trajectories.second_collector.agents.model import Conversation, ModelFailed


def _requests(retry: Retry | None, method: str, url: str, data: Any) -> str:
    with requests.Session() as session:
        if retry:
            session.mount("https://", HTTPAdapter(max_retries=retry))
        answer = session.request(method, url, json=data, timeout=8)
        return f"{answer.status_code}\n{answer.text[:700]}"


def _httpx(method: str, url: str, data: Any) -> str:
    transport = httpx.HTTPTransport(retries=2)
    with httpx.Client(transport=transport, follow_redirects=True, timeout=8) as client:
        answer = client.request(method, url, json=data)
        return f"{answer.status_code}\n{answer.text[:700]}"


def _urllib(method: str, url: str, data: Any) -> str:
    body = None if data is None else json.dumps(data).encode()
    asked = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(asked, timeout=8) as answer:
        return f"{answer.status}\n{answer.read().decode()[:700]}"


def fetch(client: str, method: str, url: str, data: Any) -> str:
    """Return status and text, or the error's."""
    statuses = Retry(3, backoff_factor=0.2, status_forcelist=[429, 500, 502, 503, 504])
    try:
        match client:
            case "urllib3":
                return _requests(statuses, method, url, data)
            case "httpx":
                return _httpx(method, url, data)
            case "urllib":
                return _urllib(method, url, data)
        return _requests(None, method, url, data)
    except Exception as error:  # noqa: BLE001  (The model sees whatever the client raises.)
        return f"{type(error).__name__}: {first_line(error)}"


def _run(command: str) -> str:
    try:
        ran = subprocess.run(
            ["bash", "-c", command], capture_output=True, text=True, timeout=25, check=False
        )
    except subprocess.TimeoutExpired:
        return "timed out"
    return f"exit code {ran.returncode}\n{ran.stdout[:700]}{ran.stderr[-300:]}"


def main(config: dict[str, Any], use: Callable[[str, Any, str], str] | None = None) -> int:
    use = use or tool
    names = config.get("tools", ["http_get", "http_post", "bash", "wait"])
    talk = Conversation(config.get("api", "chat"), "You have tools.", names)
    talk.show(f"Task: {config['task']}")
    for _ in range(config.get("turns", 12)):
        try:
            reply = talk.ask()
        except ModelFailed as failed:
            print(f"the model failed: {failed}")
            return 1
        if not reply.calls:
            print(reply.text)
            break
        for call in reply.calls:
            talk.result(call, use(call.name, call.arguments, config.get("client", "requests")))
    time.sleep(config.get("lingers", 0))
    return 0


def tool(name: str, value: Any, client: str) -> str:
    """Execute a call of a tool."""
    if not isinstance(value, dict):
        return "Error: the arguments are not JSON"
    match name:
        case "http_get" | "visit_webpage" | "fetch" | "web_fetch":
            return fetch(client, "GET", value["url"], None)
        case "http_post":
            return fetch(client, "POST", value["url"], value.get("json"))
        case "bash" | "shell" | "terminal":
            return _run(value["command"])
        case "wait":
            time.sleep(float(value["seconds"]))
            return "waited"
    return f"Error: there is no tool {name}"


if __name__ == "__main__":
    sys.exit(main(json.loads(Path(sys.argv[1]).read_text("utf-8"))))
