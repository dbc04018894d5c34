"""A shop that all trials share: one at a time, reset before each, judged past the faults."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

from warex.analysis.run.load import load_run
from warex.analysis.trial.record import TrialRecord
from warex.traces import EVENTS, RequestSeen, read_trace

pytestmark = [pytest.mark.browser, pytest.mark.slow]

AGENT = """
import sys
from playwright.sync_api import sync_playwright
item, browser = sys.argv[1:]
with sync_playwright() as play:
    chromium = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
    page = chromium.new_page()
    page.goto("https://shop.example/")
    for _ in range(2):
        if page.locator("form").count():
            page.fill("input", item)
            page.click("button")
            break
        page.reload()
    print(page.inner_text("body"))
"""
ASKS = """
import sys, urllib.request
what, origin, *wanted = sys.argv[1:]
sent = b"" if what == "reset" else None
answer = urllib.request.urlopen(f"{origin}/{what}", sent).read().decode()
print(answer)
sys.exit(bool(wanted) and answer != wanted[0])
"""
DOWN = """
name: down
rules:
  - {name: down, match: {url: "*"}, trigger: {always: true}, fault: {kind: http_error, status: 503}}
"""


@dataclass
class Shop:
    orders: list[str] = field(default_factory=list)
    begun: int = 0
    """Forms that were shown and not sent yet."""
    most: int = 0
    resets: int = 0


@contextmanager
def shop() -> Iterator[tuple[Shop, str]]:
    state = Shop()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/":
                state.begun += 1
                state.most = max(state.most, state.begun)
                self._say("<form method=post action=/order><input name=item><button>Order</button>")
            else:
                self._say(",".join(state.orders) if self.path == "/orders" else "Thank  you!")

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            if self.path == "/reset":
                state.orders.clear()
                state.begun, state.resets = 0, state.resets + 1
                self._say("empty")
                return
            state.orders += parse_qs(sent)["item"]
            state.begun -= 1
            self.send_response(303)
            self.send_header("Location", "/thanks?n=1")
            self.end_headers()

        def _say(self, text: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield state, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def run(folder: Path, origin: str) -> tuple[str, dict[tuple[str, str], TrialRecord]]:
    (folder / "agent.py").write_text(AGENT)
    (folder / "asks.py").write_text(ASKS)
    (folder / "down.yaml").write_text(DOWN)
    asks = [sys.executable, str(folder / "asks.py")]
    wanted: dict[str, Any] = {
        "tea": {"check": [*asks, "orders", origin, "{task_id}"], "text": "thank you"},
        "milk": {"check": [*asks, "orders", origin, "{task_id}"], "url": "*/thanks?n=*"},
    }
    tasks = [json.dumps({"id": name, "expect": expect}) for name, expect in wanted.items()]
    (folder / "tasks.jsonl").write_text("\n".join(tasks))
    campaign = {
        "name": "shared",
        "jobs": 2,
        "benchmark": {
            "name": "command",
            "sites": {"https://shop.example": origin},
            "options": {
                "command": [sys.executable, str(folder / "agent.py"), "{task}", "{browser}"],
                "tasks": {"file": "tasks.jsonl"},
                "reset": [*asks, "reset", origin],
                "arm": "first_page",
            },
        },
        "agents": [{"name": "a", "model": "none"}],
        "conditions": [
            {"name": "clean"},
            {"name": "error", "scenario": "paper/server-error"},
            {"name": "down", "scenario": "down.yaml"},
        ],
    }
    (folder / "campaign.json").write_text(json.dumps(campaign))
    done = subprocess.run(
        [
            *(sys.executable, "-m", "warex.cli", "run", str(folder / "campaign.json")),
            *("--out", str(folder / "run")),
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    trials = {(it.key.task, it.key.condition): it for it in load_run(folder / "run").trials}
    return done.stdout + done.stderr, trials


def test_trials_that_share_a_shop_are_each_judged_by_their_own_order(tmp_path: Path) -> None:
    with shop() as (state, origin):
        text, trials = run(tmp_path, origin)

    assert "trials run one at a time, not 2 as asked" in " ".join(text.split())
    assert (state.most, state.resets) == (1, 6)
    assert {key: trial.solved for key, trial in trials.items()} == {
        (task, condition): condition != "down"
        for task in ("tea", "milk")
        for condition in ("clean", "error", "down")
    }
    # While every page failed, neither the check nor the reset met a fault, nor were they recorded.
    reasons = json.loads((trials["milk", "down"].path / "outcome.json").read_text())["reasons"]
    assert reasons[0] == "the browser ended at https://shop.example/ and not at */thanks?n=*"
    assert reasons[1] == "the check ended with code 1 and said nothing"
    asked = read_trace(trials["tea", "down"].path / EVENTS).events(RequestSeen)
    assert not [each.url for each in asked if each.url.endswith(("/orders", "/reset"))]
