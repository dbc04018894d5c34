"""Run one trial by `warex exec`, and reduce its trace."""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.analysis.trajectories.second_collector import player, sites
from tests.analysis.trajectories.second_collector.cases import Script, Variant
from tests.analysis.trajectories.second_collector.reduce import delivered, reduce

_PACKAGE = "tests.analysis.trajectories.second_collector.agents"
_MODELS = ("https://api.openai.com", "https://api.anthropic.com")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A trial's trace, and what is known of it from outside."""

    lines: list[str]
    solved: bool
    last: str
    """The model's last answer."""
    printed: str
    output: str
    delivered: int


def record(script: Script, variant: Variant, seed: int) -> Recorded:
    """Run the trial."""
    world = sites.World()
    model = player.Player(script, variant)
    with ExitStack() as stack:
        site_port = stack.enter_context(sites.serve(script.hosts, world))
        model_port = stack.enter_context(player.serve(model))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="warex-second-")))
        scenario = {"name": "second", "arm": variant.arm, "rules": _named(variant.rules)}
        (folder / "scenario.json").write_text(json.dumps(scenario), "utf-8")
        config = {"task": script.task} | dict(script.options)
        (folder / "agent.json").write_text(json.dumps(config), "utf-8")
        maps = [f"{script.scheme}://{h}=http://127.0.0.1:{site_port}" for h in script.hosts]
        maps += [f"{origin}=http://127.0.0.1:{model_port}" for origin in _MODELS]
        warex = Path(sys.executable).with_name("warex")
        command: list[str | Path] = [warex, "exec", "--isolate", "namespace", "--seed", str(seed)]
        for one in maps:
            command += ["--map", one]
        for host in script.hosts:
            command += ["--site", f"{script.scheme}://{host}"]
        if variant.rules:
            command += ["--scenario", folder / "scenario.json"]
        if script.vocabulary:
            (folder / "vocabulary.json").write_text(json.dumps(script.vocabulary), "utf-8")
            command += ["--vocabulary", folder / "vocabulary.json"]
        command += [*script.extra, "--out", folder / "trial", "--"]
        command += [sys.executable, "-m", f"{_PACKAGE}.{script.agent}", folder / "agent.json"]
        try:
            ran = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=False,
                timeout=150,
                env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
            )
            printed, output = ran.stdout[-600:], ran.stdout[-600:] + ran.stderr[-1200:]
        except subprocess.TimeoutExpired as error:
            printed, output = "", f"timed out: {error}"
        events = folder / "trial" / "events.jsonl"
        if not events.is_file():
            raise RuntimeError(f"{script.name}-{variant.name}: {output}")
        lines = reduce(events)
        last = model.answers[-1] if model.answers else ""
        solved = script.solved(world, f"{last}\n{printed}")
        return Recorded(lines, solved, last, printed, output, delivered(lines))


def _named(rules: Any) -> list[Any]:
    return [{"name": f"rule-{n}"} | rule for n, rule in enumerate(rules, 1)]
