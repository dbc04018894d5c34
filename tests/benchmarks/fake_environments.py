"""Fake folders of benchmarks' own environments, created without installing anything."""

import json
from pathlib import Path

from warex.benchmarks import AgentSpec, Benchmark, Job
from warex.benchmarks.installation.virtualenv import MARKER

GPT = AgentSpec("demo", "gpt-4o", max_steps=7)
PLAYED = AgentSpec("played", "playbook:plan.yaml")
FLAGS = ("--proxy-server=http://127.0.0.1:1",)


def make_home(folder: Path, kind: type[Benchmark]) -> Path:
    """Create the folder as ``warex benchmarks setup`` does, without packages; return it."""
    assert kind.recipe is not None
    packages = folder / "venv/lib/python3.12/site-packages"
    browsers = packages / "playwright/driver/package/browsers.json"
    browsers.parent.mkdir(parents=True)
    browsers.write_text('{"browsers": [{"name": "chromium", "revision": "7"}]}')
    (folder / "venv/bin").mkdir()
    (folder / "venv/bin/python").write_text("")
    marker = {"benchmark": kind.name, "recipe": kind.recipe.digest, "said": {}}
    (folder / MARKER).write_text(json.dumps(marker))
    return folder


def make_job(folder: Path, task: str, agent: AgentSpec = GPT, *, proxied: bool = True) -> Job:
    """Return a job in two new folders."""
    attempt, scratch = folder / "attempt", folder / "scratch"
    attempt.mkdir()
    scratch.mkdir()
    return Job(task, agent, attempt, scratch, 1, Path("/bin/echo"), FLAGS, proxied)


def job_in(folder: Path, task: str) -> Job:
    """Return the job of an attempt that has ended, with its files in a folder."""
    return Job(task, GPT, folder, folder / "scratch", 1, Path("/bin/echo"))
