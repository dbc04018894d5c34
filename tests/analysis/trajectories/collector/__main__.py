"""`python -m tests.analysis.trajectories.collector OUT --seed N`: collect trials under faults.

Each trial is a run of `warex run`: a task at a small shop, a random scenario, a scripted model with
a random behaviour and the wording of some harness. OUT gets the reduced traces, `index.yaml`, and
`policies.yaml`, which raters must not see.
"""

import argparse
import json
import os
import random  # noqa: TID251  (Of the collection, not of a trial.)
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.analysis.trajectories.collector import model, site
from tests.analysis.trajectories.collector.faults import draw
from tests.analysis.trajectories.collector.index import Entry, write
from tests.analysis.trajectories.collector.policy import Policy
from tests.analysis.trajectories.collector.tasks import TASKS, Task
from tests.analysis.trajectories.collector.trace import delivered, shrink
from tests.analysis.trajectories.collector.wording import WORDINGS
from warex.benchmarks import benchmark_kind

AGENT = Path(__file__).with_name("agent.py")
_MOST = 8
_ENDPOINT = "http://llm.warex.test/v1"
_OWN = {
    "name": "own",
    "navigate": ["click", "goto", "go_back", "go_forward", "reload", "new_tab"],
    "recover": ["reload", "goto", "go_back", "go_forward", "new_tab"],
    "retry": ["reload"],
    "finish": ["send_msg_to_user", "report_infeasible"],
    "infeasible": ["report_infeasible"],
    "noop": ["noop"],
    "other": ["fill", "scroll"],
}


@dataclass(frozen=True, slots=True)
class Served:
    """The state that all trials share."""

    origins: dict[str, str]
    worlds: site.Worlds
    policies: dict[str, Policy]
    port: int
    out: Path


def _vocabulary(whose: str | None) -> dict[str, Any] | None:
    if whose is None or whose == "own":
        return _OWN if whose else None
    return benchmark_kind(whose).vocabulary.model_dump(mode="json")


def _campaign(
    names: list[str], served: Served, vocabulary: dict[str, Any] | None, flags: list[str]
) -> Any:
    command = [sys.executable, str(AGENT), _ENDPOINT, "{browser}", "{task}", *flags]
    options: dict[str, Any] = {"command": command, "tasks": names, "endpoints": [_ENDPOINT]}
    if vocabulary:
        options["vocabulary"] = vocabulary
    return {
        "name": "collected",
        "timeout_s": 150,
        "jobs": 2,
        "isolate": "namespace",
        "benchmark": {"name": "command", "sites": served.origins, "options": options},
        "agents": [
            {"name": "agent", "model": "m", "base_url": f"http://127.0.0.1:{served.port}/v1"}
        ],
        "conditions": [{"name": "faulted", "scenario": "scenario.json"}],
    }


def _environment(rng: random.Random) -> dict[str, str]:
    """Return environment variables that name a browser: Chromium, or its headless shell if any."""
    shell = shutil.which("chromium-headless-shell")
    if shell is None or rng.random() < 0.4:
        return dict(os.environ)
    return os.environ | {"WAREX_CHROMIUM": shell}


def collect(names: list[str], seed: int, served: Served) -> list[Entry]:
    """Run a few trials of one task under one scenario; keep those with a delivered fault."""
    rng = random.Random(f"{seed} {names[0]}")
    base = rng.choice([site.WWW, site.WWW, site.PLAIN])
    task = rng.choice(TASKS)(base, rng)
    wording = rng.choice([*WORDINGS])
    scenario, kind = draw(task, base, rng)
    vocabulary = _vocabulary(WORDINGS[wording])
    flags = [f for f in ("--reloads-by-itself", "--stops") if rng.random() < 0.5]
    for name in names:
        served.policies[name] = Policy(task, base, random.Random(f"{seed} {name} policy"), wording)
    with tempfile.TemporaryDirectory(prefix="warex-collector-") as temporary:
        folder = Path(temporary)
        campaign = _campaign(names, served, vocabulary, flags)
        (folder / "campaign.json").write_text(json.dumps(campaign), "utf-8")
        (folder / "scenario.json").write_text(json.dumps(scenario), "utf-8")
        warex = Path(sys.executable).with_name("warex")
        ran = subprocess.run(
            [warex, "run", folder / "campaign.json", "--out", folder / "run"],
            capture_output=True,
            env=_environment(rng),
            text=True,
            check=False,
        )
        if ran.returncode not in (0, 1):
            print(f"{names}: {ran.stdout[-300:]}{ran.stderr[-700:]}", file=sys.stderr)
        hidden = {"wording": wording, "task": task.kind, "faults": kind, "flags": flags}
        return [e for name in names if (e := _retained(name, folder, task, hidden, served))]


def _retained(
    name: str, folder: Path, task: Task, hidden: dict[str, Any], served: Served
) -> Entry | None:
    attempts = sorted(folder.glob(f"run/trials/*/*/*/{name}/*/attempt-*/outcome.json"))
    if not attempts:
        return None
    events = shrink(attempts[-1].with_name("events.jsonl"))
    if not 1 <= delivered(events) <= _MOST:
        return None
    path = served.out / f"{name}.jsonl"
    path.write_text("".join(line + "\n" for line in events), "utf-8")
    policy = served.policies[name]
    solved = task.solved(served.worlds.of(name), policy.claim)
    hidden = hidden | {"temper": policy.temper, "did": policy.did, "talk": policy.talk}
    whose = WORDINGS[policy.wording]
    entry = Entry(name, _OWN if whose == "own" else whose, solved, policy.claim, hidden)
    write(served.out, entry)
    return entry


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="collector")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=1, help="number of the first trial")
    parser.add_argument("--trials", type=int, default=120)
    parser.add_argument("--each", type=int, default=4, help="trials of one task and scenario")
    parser.add_argument("--jobs", type=int, default=3, help="runs side by side, of two lanes each")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    arguments.out.mkdir(parents=True, exist_ok=True)
    worlds, policies = site.Worlds(), dict[str, Policy]()
    names = [
        f"c{number:03}" for number in range(arguments.first, arguments.first + arguments.trials)
    ]
    with site.serve(worlds) as origins, model.serve(policies) as port:
        served = Served(origins, worlds, policies, port, arguments.out)
        batches = [names[at : at + arguments.each] for at in range(0, len(names), arguments.each)]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            for entries in pool.map(lambda batch: collect(batch, arguments.seed, served), batches):
                for entry in entries:
                    print(entry.name, entry.solved, flush=True)


if __name__ == "__main__":
    main()
