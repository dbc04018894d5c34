"""A campaign on a real Ray cluster of two nodes: what is lost is made again, nothing twice."""

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from warex.campaigns.ray.gateway import MEMORY_A_TRIAL
from warex.traces import Counted, find_trials, read_outcome

pytestmark = [pytest.mark.slow, pytest.mark.browser]

HERE = Path(__file__).parent
TASKS = 4
# One that begins while `hold` is there says so and waits.
AGENT = """\
import json, sys, time, urllib.request, uuid
from pathlib import Path
here, out, url, model = sys.argv[1:]
if Path(here, "hold").exists():
    Path(here, "held", uuid.uuid4().hex).touch()
    while Path(here, "hold").exists():
        time.sleep(0.02)
ask = urllib.request.Request(
    model + "/chat/completions",
    json.dumps({"model": "m", "messages": [{"role": "user", "content": url}]}).encode(),
    {"Content-Type": "application/json"},
)
opened = urllib.request.Request(url, headers={"Sec-Fetch-Dest": "document"})
for attempt in range(2):
    urllib.request.urlopen(ask).read()
    try:
        page = urllib.request.urlopen(opened).read().decode()
        break
    except OSError as error:
        page = str(error)
time.sleep(0.5)
Path(out, "result.json").write_text(json.dumps({"success": page == "hello"}))
"""


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Ray wait for a head that is gone for less than the 20 s that WAREX allows."""
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "4")


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("ray")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as site:
        threading.Thread(target=site.serve_forever, daemon=True).start()
        agent = folder / "agent.py"
        agent.write_text(AGENT)
        task = ["{out}", "http://shop.example/{task}", "{base_url}"]
        options = {
            "command": [sys.executable, str(agent), str(folder), *task],
            "tasks": [f"task-{number}" for number in range(TASKS)],
            "result": {"file": "{out}/result.json", "json": "success"},
            "vocabulary": {"recover": ["reload"]},
            "isolated": True,
        }
        (folder / "playbook.json").write_text(json.dumps({"rules": [{"say": "reload()"}]}))
        (folder / "campaign.json").write_text(
            json.dumps(
                {
                    "name": "on-ray",
                    "benchmark": {
                        "name": "command",
                        "sites": {"http://shop.example": f"http://127.0.0.1:{site.server_port}"},
                        "options": options,
                    },
                    "agents": [{"name": "a", "model": "playbook:playbook.json"}],
                    "conditions": [
                        {"name": "clean"},
                        {"name": "server-error", "scenario": "paper/server-error"},
                    ],
                }
            )
        )
        yield folder / "campaign.json"
        site.shutdown()


class _Cluster:
    def __init__(self, process: "subprocess.Popen[str]", address: str) -> None:
        self._process = process
        self.address = address

    def obey(self, word: str) -> str:
        """Have it do what a word of ``ray_cluster.py`` means; return what it says."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{word}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()


@contextmanager
def cluster() -> Iterator[_Cluster]:
    with subprocess.Popen(
        [sys.executable, HERE / "ray_cluster.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert address, "no cluster came up"
        assert process.stdin
        yield _Cluster(process, address)
        process.stdin.close()


def warex(*arguments: object) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [Path(sys.executable).with_name("warex"), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(*arguments: object) -> None:
    with warex(*arguments) as running:
        output, _ = running.communicate(timeout=240)
    assert running.returncode == 0, output


def until_a_trial_is_over(running: "subprocess.Popen[str]") -> list[str]:
    """Read what it says until the first trial is reported."""
    messages: list[str] = []
    assert running.stdout
    for line in running.stdout:
        messages.append(line)
        if line.startswith(("solved", "failed")):
            return messages
    raise AssertionError("".join(messages))


def while_each_node_runs_a_trial(folder: Path, act: Callable[[], object]) -> None:
    """Act when two more trials have begun and none of the two can be over."""
    path = folder / "held"
    path.mkdir()
    (folder / "hold").touch()
    deadline = time.monotonic() + 120
    while len(list(path.iterdir())) < 2:
        assert time.monotonic() < deadline, "no two trials began"
        time.sleep(0.05)
    act()
    (folder / "hold").unlink()


def figures(run: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """Return each trial's figures that no clock has a part in."""
    trials = json.loads((run / "summary.json").read_text())["trials"]
    for trial in trials:
        # A lost attempt's number is not given twice, and is in the path.
        for name in ("latency_s", "path", "attempt"):
            del trial[name]
        for recovery in trial["recoveries"]:
            del recovery["seconds"]
    return {(trial["condition"], trial["task"]): trial for trial in trials}


def counted(run: Path) -> Counter[tuple[str, str]]:
    """Count the attempts of each trial that came out."""
    return Counter(
        (key.condition, key.task)
        for key, _, folder in find_trials(run)
        if isinstance(read_outcome(folder), Counted)
    )


def test_a_node_that_dies_takes_nothing_with_it(campaign: Path, tmp_path: Path) -> None:
    on_ray, here = tmp_path / "ray", tmp_path / "local"
    with cluster() as nodes:
        running = warex("run", campaign, "--ray", nodes.address, "--out", on_ray)
        asked_for = nodes.obey("busy")
        messages = until_a_trial_is_over(running)
        while_each_node_runs_a_trial(campaign.parent, lambda: nodes.obey("node"))
        rest, _ = running.communicate(timeout=240)
        messages.append(rest)

    text = "".join(messages)
    assert running.returncode == 0, text
    # One on each node's CPU, and no more on a node than its memory bears.
    assert asked_for == str(2 * MEMORY_A_TRIAL)
    assert "is lost and made again" in text
    assert "Traceback" not in text
    trials = counted(on_ray)
    assert len(trials) == 2 * TASKS
    assert set(trials.values()) == {1}

    finish("run", campaign, "--out", here)
    assert figures(on_ray) == figures(here)
    recovered = [trial["recoveries"] for trial in figures(here).values() if trial["recoveries"]]
    assert [(each["verdict"], each["tries"]) for (each,) in recovered] == [("recovered", 1)] * TASKS


def test_a_head_that_dies_is_a_sentence_and_the_rest_runs_later(
    campaign: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    with cluster() as nodes:
        running = warex("run", campaign, "--ray", nodes.address, "--out", run)
        messages = until_a_trial_is_over(running)
        assert nodes.obey("head") == "done"
        rest, _ = running.communicate(timeout=120)

    text = "".join(messages) + rest
    assert running.returncode == 3, text
    assert f"the Ray cluster at {nodes.address} is lost" in text
    assert "--resume" in text
    assert "Traceback" not in text
    before = counted(run)
    assert before

    finish("run", campaign, "--resume", "--out", run)
    trials = counted(run)
    assert len(trials) == 2 * TASKS
    assert set(trials.values()) == {1}


def test_a_cluster_of_its_own_is_a_new_one_whichever_else_there_is(
    campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What Ray would otherwise connect to, and nobody answers there.
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:9")
    run = tmp_path / "run"

    finish("run", campaign, "--ray", "local", "--jobs", 2, "--limit", 2, "--out", run)

    assert sum(counted(run).values()) == 2
