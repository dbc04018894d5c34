"""The tasks of one command are told apart behind `warex exec`, however it is isolated."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.proxy.support.origin import served
from warex.traces import FaultDelivered, RequestSeen, TaskBegan, read_trace

pytestmark = pytest.mark.slow

HARNESS = """
import sys, threading, urllib.error, urllib.request as client

def page(**headers):
    asked = client.Request("http://shop.test/page", headers=headers)
    try:
        return client.urlopen(asked).status
    except urllib.error.HTTPError as error:
        return error.code

for name in ("one", "two"):
    client.urlopen(f"http://warex.invalid/task/{name}").read()
    print(name, page(), page())
pages = {}
def work(name):
    pages[name] = [page(**{"X-Warex-Task": name}) for _ in range(3)]
threads = [threading.Thread(target=work, args=(f"worker-{n}",)) for n in range(4)]
[it.start() for it in threads]
[it.join() for it in threads]
for name in sorted(pages):
    print(name, *pages[name])
client.urlopen("http://warex.invalid/end").read()
print("after", page())
"""
SCENARIO = """
name: first
rules:
  - name: first
    match: {url: "http://shop.test/**"}
    trigger: {first: 1}
    fault: {kind: http_error, status: 503}
"""


@pytest.mark.parametrize("isolation", ["namespace", "environment"])
def test_tasks_are_distinguished_one_after_the_other_and_at_the_same_time(
    isolation: str, tmp_path: Path
) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO)
    (tmp_path / "harness.py").write_text(HARNESS)
    out = tmp_path / "out"
    with served() as site:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "warex.cli", "exec", "--isolate", isolation),
                *("--scenario", "scenario.yaml", "--out", str(out)),
                *("--map", f"http://shop.test=http://127.0.0.1:{site.port}"),
                *("--", sys.executable, "harness.py"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        heads = [seen.head.lower() for seen in site.seen]
    assert done.returncode == 0, done.stderr
    workers = [f"worker-{number}" for number in range(4)]
    assert done.stdout.splitlines() == [
        *("one 503 200", "two 503 200"),
        *(f"{worker} 503 200 200" for worker in workers),
        "after 200",
    ]
    assert "6 tasks distinguished, 1 exchange unattributed" in done.stderr
    assert not [head for head in heads if b"x-warex" in head or b"warex.invalid" in head]
    trace = read_trace(out / "events.jsonl")
    requests = [request.task for request in trace.events(RequestSeen)]
    assert {name: requests.count(name) for name in set(requests)} == {
        **{"one": 2, "two": 2, "": 1},
        **dict.fromkeys(workers, 3),
    }
    assert len(list(trace.events(FaultDelivered))) == 6
    assert {it.task for it in trace.events(TaskBegan) if it.beside} == set(workers)
