"""`python -m tests.analysis.trajectories.second_collector OUT --seed N`: make the corpus's trials.

Each variant of each script is one trial of `warex exec`; each script's clean twin is recorded too.
OUT gets `NAME.jsonl`, `NAME.clean.jsonl` and `index.yaml`. Run from the repository's root, on Linux
with namespaces, Chromium, chromedriver, Xvfb, xdotool, Node and the package tenacity;
`NODE_KIT` names a folder with the Node packages that the scripts and sites use.
"""

import argparse
import json
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from tests.analysis.trajectories.second_collector.cases import Script, Variant
from tests.analysis.trajectories.second_collector.record import record
from tests.analysis.trajectories.second_collector.scripts import SCRIPTS, apps, blind

_CLEAN = Variant("clean", ())
_WRITING = Lock()


def _keep(out: Path, script: Script, variant: Variant, seed: int) -> None:
    clean = variant is _CLEAN
    name = f"{script.name}.clean" if clean else f"{script.name}-{variant.name}"
    if (out / f"{name}.jsonl").exists():
        return
    try:
        got = record(script, variant, seed)
    except Exception:  # noqa: BLE001  (One trial that fails does not stop the others.)
        traceback.print_exc()
        return
    problem = "" if clean or got.delivered else " NOTHING DELIVERED"
    print(f"{name}: delivered {got.delivered}, solved {got.solved}{problem}", flush=True)
    if problem or (clean and not got.solved):
        print(got.last, got.output, sep="\n", flush=True)
    if problem:
        return
    text = "".join(f"{line}\n" for line in got.lines)
    (out / f"{name}.jsonl").write_text(text, "utf-8")
    entry: dict[str, Any] = {
        "name": name,
        "script": script.name,
        "kinds": sorted({*script.kinds, *variant.kinds}),
        "vocabulary": dict(script.vocabulary) if script.vocabulary else None,
        "solved": got.solved,
        "last": got.last[:300],
        "printed": got.printed[-300:].strip(),
        "twin": None if clean else f"{script.name}.clean",
    }
    with _WRITING, (out / "index.yaml").open("a", encoding="utf-8") as index:
        index.write(f"- {json.dumps(entry, ensure_ascii=False)}\n")


def _scripts(inputs: argparse.Namespace) -> list[Script]:
    if inputs.apps:
        return apps.SCRIPTS
    return blind.SCRIPTS if inputs.blind else SCRIPTS


def main() -> None:
    parser = argparse.ArgumentParser(prog="second_collector")
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the beginning of names of scripts")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--blind", action="store_true", help="the scripts of the blind test")
    which.add_argument("--apps", action="store_true", help="those of the second one, of apps")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    todo = [
        (script, variant)
        for script in _scripts(arguments)
        if script.name.startswith(tuple(arguments.only.split(",")))
        for variant in (_CLEAN, *script.variants)
    ]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(lambda one: _keep(arguments.out, one[0], one[1], arguments.seed), todo))


if __name__ == "__main__":
    main()
