"""`python -m tests.analysis.trajectories.recorder`: record real browsers under real faults again.

Each behaviour is a page of a small site, a rule and the model's answers, as a playbook. The traces
are reduced into `recorded/`; the labels there are a person's and stay.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.analysis.trajectories.strip_trace import strip_trace
from tests.http_server import Handler, serving

AGENT = Path(__file__).with_name("agent.py")
SITE = "https://shop.warex.test"

PAGES = {
    "/": "<title>Shop</title><h1>Shop</h1><a id=cart href=/cart>Cart</a>",
    "/cart": "<title>Cart</title><h1>Cart</h1><script src=/app.js></script>"
    "<form method=post action=/orders><button id=order>Order</button></form>",
    "/app.js": "document.title += '!'",
    "/orders": "<title>Ordered</title><h1>Thank you</h1>",
    "/retrying": "<title>Items</title><p id=items></p><script>async function load() {"
    "const a = await fetch('/items').catch(() => null);"
    "if (a && a.ok) document.getElementById('items').textContent = await a.text();"
    "else setTimeout(load, 300) } load()</script>",
    "/items": "three items",
    "/lazy": "<title>Lazy</title><script>function load() {"
    "const s = document.createElement('script'); s.src = '/app.js';"
    "s.onerror = () => setTimeout(load, 300); document.head.append(s) } load()</script>",
}


@dataclass(frozen=True)
class Behaviour:
    """A behaviour to record: the first page, the fault, the model's answers turn by turn."""

    match: dict[str, Any]
    fault: dict[str, Any]
    say: list[str]
    start: str = "/cart"
    trigger: dict[str, Any] = field(default_factory=lambda: {"first": 1})
    own_reload: bool = False


CART = {"url": f"{SITE}/cart"}
CUT = {"kind": "connection_cut"}
BROKEN = {"kind": "http_error", "status": 500}
DONE = "send_msg_to_user('done')"

BEHAVIOURS = {
    "chromium-reloads-by-itself": Behaviour(CART, CUT, [DONE], own_reload=True),
    "chromium-reloads-while-the-agent-waits": Behaviour(
        CART, CUT, ["noop()", DONE], own_reload=True, trigger={"first": 2}
    ),
    "chromium-reloads-while-the-agent-clicks": Behaviour(
        CART, CUT, ["click('#nothing')", DONE], own_reload=True, trigger={"first": 2}
    ),
    "agent-reloads-a-cut-page": Behaviour(CART, CUT, ["It failed.\nreload()", DONE]),
    "agent-goes-there-again": Behaviour(CART, BROKEN, [f"goto('{SITE}/cart')", DONE]),
    "agent-goes-elsewhere": Behaviour(CART, BROKEN, [f"goto('{SITE}/')", DONE]),
    "agent-presses-chromiums-reload-button": Behaviour(
        CART, CUT, ["click('#reload-button')", DONE]
    ),
    "agent-comes-again-by-the-link": Behaviour(
        CART, BROKEN, ["click('#cart')", "go_back()", "click('#cart')", DONE], start="/"
    ),
    "agent-reloads-twice": Behaviour(
        CART, BROKEN, ["reload()", "reload()", DONE], trigger={"first": 2}
    ),
    "agent-gives-up-after-one-reload": Behaviour(
        CART, BROKEN, ["reload()", "report_infeasible('broken')"], trigger={"first": 2}
    ),
    "page-fetches-again": Behaviour(
        {"url": f"{SITE}/items"}, BROKEN, ["noop()", DONE], start="/retrying"
    ),
    "page-loads-its-script-again": Behaviour(
        {"url": f"{SITE}/app.js"}, CUT, ["noop()", DONE], start="/lazy"
    ),
    "agent-reloads-for-a-script": Behaviour({"url": f"{SITE}/app.js"}, BROKEN, ["reload()", DONE]),
    "agent-orders-again": Behaviour(
        {"url": f"{SITE}/orders", "method": ["POST"]},
        BROKEN,
        ["click('#order')", "go_back()", "click('#order')", DONE],
    ),
    "agent-reloads-a-failed-order": Behaviour(
        {"url": f"{SITE}/orders", "method": ["POST"]},
        BROKEN,
        ["click('#order')", "reload()", DONE],
    ),
}


class _Site(Handler):
    def do_GET(self) -> None:
        self.read_body()
        page = PAGES.get(self.path.partition("?")[0])
        body = (page or "<title>Nothing here</title>").encode()
        kind = "text/javascript" if self.path.endswith(".js") else "text/html"
        self.reply(body, kind, 200 if page else 404, Cache_Control="no-store")

    do_POST = do_GET


def _campaign(behaviour: Behaviour, port: int) -> dict[str, Any]:
    flags = ["--reloads-by-itself"] if behaviour.own_reload else []
    command = [
        sys.executable,
        str(AGENT),
        "{base_url}",
        "{browser}",
        SITE + behaviour.start,
        *flags,
    ]
    vocabulary = {
        "navigate": ["click", "goto", "go_back", "reload"],
        "recover": ["reload", "goto", "go_back"],
        "retry": ["reload"],
        "finish": ["send_msg_to_user", "report_infeasible"],
        "infeasible": ["report_infeasible"],
        "noop": ["noop"],
    }
    return {
        "name": "recording",
        "benchmark": {
            "name": "command",
            "sites": {SITE: f"http://127.0.0.1:{port}"},
            "options": {"command": command, "tasks": ["go"], "vocabulary": vocabulary},
        },
        "agents": [{"name": "recorder", "model": "playbook:playbook.json"}],
        "conditions": [{"name": "faulted", "scenario": "scenario.json"}],
    }


def record(name: str, folder: Path, port: int) -> Path:
    """Run one behaviour and store its reduced trace; return its path."""
    behaviour = BEHAVIOURS[name]
    rule = {
        "name": "fault",
        "match": behaviour.match,
        "trigger": behaviour.trigger,
        "fault": behaviour.fault,
    }
    turns = [{"last": [r"^turn \d"], "say": behaviour.say}, {"say": ["Ready."]}]
    files = {
        "campaign.json": _campaign(behaviour, port),
        "playbook.json": {"rules": turns},
        "scenario.json": {"name": name, "arm": "first_llm_call", "rules": [rule]},
    }
    for file, content in files.items():
        (folder / file).write_text(json.dumps(content), "utf-8")
    warex = Path(sys.executable).with_name("warex")
    run = folder / "run"
    subprocess.run([warex, "run", folder / "campaign.json", "--out", run], check=True)
    (events,) = run.glob("trials/*/*/*/*/*/attempt-1/events.jsonl")
    return strip_trace(events.parent, name)


def main(names: list[str]) -> None:
    with serving(_Site) as port:
        for name in names or BEHAVIOURS:
            with tempfile.TemporaryDirectory() as folder:
                print(record(name, Path(folder), port))


if __name__ == "__main__":
    main(sys.argv[1:])
