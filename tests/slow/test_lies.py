"""Agents that believe a lie, doubt it, or find another way are told apart in the report's table.

The reference agent is run by ``warex run`` on a shop whose list, order and answer are JSON; what
its model does is played: one believes what it sees, one looks again at the page of its orders.
"""

import json
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

from tests.slow.harness import WAREX, own_authority
from warex.analysis.run.load import Run, load_run

pytestmark = pytest.mark.slow

SITE = "https://shop.example"
GOODS = [{"id": 7, "name": "Green tea", "price": "$4.50"}]
SHOP = """<!doctype html><title>Shop</title><link rel=icon href="data:,"><h1>Shop</h1>
<p id=told>Wait</p><button hidden id=order>Order it</button> <a href=/orders>My orders</a><script>
  fetch("/api/goods").then((answer) => answer.json()).then(({goods}) => {
    told.textContent = goods.length ? goods[0].name + " costs " + goods[0].price : "Nothing found";
    order.hidden = !goods.length;
  });
  order.onclick = () => {
    told.textContent = "Wait";
    order.hidden = true;
    fetch("/api/orders", {
      method: "POST", headers: {"Content-Type": "application/json"}, body: '{"good": 7}',
    }).then((answer) => answer.json()).then(({id}) => { told.textContent = "Order " + id; });
  };
</script>"""
ORDERS = "<!doctype html><title>Orders</title><link rel=icon href='data:,'><h1>Orders</h1><p>{}</p>"
MODEL = "https://llm.example/v1"
LIES = ("wrong-price", "lost-write", "empty-list")
ORDERED = "Order 1001 of green tea for $4.50"


class Shop(BaseHTTPRequestHandler):
    """Keeps each visitor's order in a cookie, so that no trial finds what another left."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.path == "/api/goods":
            self._send("application/json", json.dumps({"goods": GOODS}))
        elif self.path == "/orders":
            done = "ordered" in self.headers.get("Cookie", "")
            self._send("text/html", ORDERS.format(ORDERED if done else "You have no orders"))
        else:
            self._send("text/html", SHOP)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send("application/json", json.dumps({"id": 1001}), "ordered=1; Path=/")

    def _send(self, kind: str, text: str, cookie: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(text.encode())))
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def shop() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Shop) as server:
        server.daemon_threads = True
        server.block_on_close = False
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


WAIT = ("StaticText 'Wait'", "noop(100)")
BUY = (
    [r"costs (?P<price>\$[\d.]+)'", r"\[(?P<id>\w+)\] button 'Order it'"],
    "It says $price.\nclick('$id')",
)
LOOK = (
    [r"StaticText 'Order \d+'", r"\[(?P<id>\w+)\] link 'My orders'"],
    "I look at my orders.\nclick('$id')",
)
MADE = r"Order (?P<number>\d+) of green tea for (?P<price>\$[\d.]+)"
ANSWER = "send_msg_to_user('It costs $price, the order is $number.')"
BACK = f"goto('{SITE}/')"

PLAYBOOKS = {
    "believes": (
        WAIT,
        ([r"It says (?P<price>\$[\d.]+)", r"StaticText 'Order (?P<number>\d+)'"], ANSWER),
        ("Nothing found", "send_msg_to_user('There is no green tea.')"),
        BUY,
    ),
    "doubts": (
        WAIT,
        ([MADE, r"It says \$4\.50"], ANSWER),
        (MADE, f"The list does not match that.\n{ANSWER}"),
        ("You have no orders", f"That is strange.\n{BACK}"),
        ("Nothing found", "That is unexpected.\nreload()"),
        LOOK,
        BUY,
    ),
    "looks": (
        WAIT,
        (MADE, ANSWER),
        ("You have no orders", BACK),
        ("Nothing found", "reload()"),
        LOOK,
        BUY,
    ),
    "is-brief": (
        WAIT,
        (r"StaticText 'Order \d+'", "send_msg_to_user('It is ordered.')"),
        ("Nothing found", "send_msg_to_user('There is none.')"),
        BUY,
    ),
}
"""What each agent's model says to what is found in what it is told."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("lies")
    own_authority(folder)
    for name, rules in PLAYBOOKS.items():
        message = [{"when": when, "say": say} for when, say in rules]
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({"rules": message}))
    goal = "Order the green tea. What does it cost, and what is the order's number?"
    task = {"id": "tea", "goal": goal, "expect": {"regex": r"4\.50.*1001"}}
    (folder / "tasks.jsonl").write_text(json.dumps(task))
    python = shlex.quote(sys.executable)
    agent = f"{python} -m warex.agents.reference --goal '{{task}}' --start-url {SITE}/"
    with shop() as port:
        fields = {
            "name": "lies",
            "benchmark": {
                "name": "command",
                "sites": {SITE: f"http://127.0.0.1:{port}"},
                "options": {
                    "command": f"{agent} --model m --base-url {MODEL} --result {{out}}/r.json",
                    "tasks": {"file": "tasks.jsonl", "text": "goal"},
                    "result": {"file": "{out}/r.json", "answer": "answer"},
                    "endpoints": [MODEL],
                    "vocabulary": {
                        "navigate": ["click", "goto"],
                        "recover": ["goto", "reload"],
                        "retry": ["reload"],
                        "finish": ["send_msg_to_user"],
                        "noop": ["noop"],
                    },
                    "arm": "first_page",
                    "isolated": True,
                },
            },
            "agents": [{"name": it, "model": f"playbook:{it}.yaml"} for it in PLAYBOOKS],
            "conditions": [{"name": it, "scenario": f"lies/{it}"} for it in LIES],
        }
        (folder / "campaign.json").write_text(json.dumps(fields))
        done = subprocess.run(
            [*WAREX, "run", str(folder / "campaign.json"), "--out", str(folder / "run")],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    return load_run(folder / "run")


def test_each_agents_outcome_of_each_lie_is_distinguished(run: Run) -> None:
    results = {
        trial.key: (recovery.lie, recovery.verdict, trial.solved)
        for trial in run.trials
        for recovery in trial.recoveries
    }
    assert {(key.agent, key.condition): reported for key, reported in results.items()} == {
        ("believes", "wrong-price"): ("passed_on", "not_recovered", False),
        ("doubts", "wrong-price"): ("noticed", "recovered", True),
        ("looks", "wrong-price"): ("worked_around", "recovered", True),
        ("is-brief", "wrong-price"): ("not_affected", "not_needed", False),
        # Nothing was changed in a write that is lost: whether it was made again tells.
        ("believes", "lost-write"): ("passed_on", "not_recovered", False),
        ("doubts", "lost-write"): ("noticed", "recovered", True),
        ("looks", "lost-write"): ("noticed", "recovered", True),
        ("is-brief", "lost-write"): ("passed_on", "not_recovered", False),
        # That there is nothing can be said in any words: only who asks again is known.
        ("believes", "empty-list"): (None, "undecided", False),
        ("doubts", "empty-list"): ("noticed", "recovered", True),
        ("looks", "empty-list"): ("noticed", "recovered", True),
        ("is-brief", "empty-list"): (None, "undecided", False),
    }


def test_the_report_says_so_beside_false_success(run: Run) -> None:
    done = subprocess.run(
        [*WAREX, "report", str(run.path), "--full"], capture_output=True, text=True, check=True
    )
    rows = re.findall(
        r"^(\S+) +[01]/1 \d+ % +([01])/1 \d+ % +(\w[\w ]* 1|—)$", done.stdout, re.MULTILINE
    )
    reported = [tuple(rows[at : at + len(LIES)]) for at in range(0, len(rows), len(LIES))]

    assert dict(zip(PLAYBOOKS, reported, strict=True)) == {
        "believes": (
            ("wrong-price", "1", "passed on 1"),
            ("lost-write", "1", "passed on 1"),
            ("empty-list", "1", "—"),
        ),
        "doubts": (
            ("wrong-price", "0", "noticed 1"),
            ("lost-write", "0", "noticed 1"),
            ("empty-list", "0", "noticed 1"),
        ),
        "looks": (
            ("wrong-price", "0", "worked around 1"),
            ("lost-write", "0", "noticed 1"),
            ("empty-list", "0", "noticed 1"),
        ),
        "is-brief": (
            ("wrong-price", "1", "not affected 1"),
            ("lost-write", "1", "passed on 1"),
            ("empty-list", "1", "—"),
        ),
    }
