"""A synthetic run with every kind of condition, for reports.

Each outcome is drawn with the probabilities below.
"""

from pathlib import Path

import msgspec
from pydantic import JsonValue

from tests.analysis.builders import WORDS, Story
from warex.seeds import draw
from warex.traces.manifest import Manifest, write_manifest
from warex.traces.outcome import Counted, Ending, Void
from warex.traces.outcome_file import write_outcome
from warex.traces.paths import EVENTS, MANIFEST, TrialKey, attempt_dir

KINDS = ("calendar", "shop", "mail", "forum")
MODELS = {"steady": "gpt-4o", "hasty": "gpt-4o-mini", "brittle": "o3-mini"}
HINT = "refresh-hint"
"""The defence's name."""

CONDITIONS: tuple[dict[str, JsonValue], ...] = (
    {"name": "no-proxy"},
    {"name": "clean"},
    {"name": "clean-again", "control": True},
    {"name": "network-error", "scenario": "paper/network-error"},
    {"name": "server-error", "scenario": "paper/server-error"},
    {"name": "javascript-delay", "scenario": "paper/javascript"},
    {
        "name": "network-error+hint",
        "scenario": "paper/network-error",
        "defence": {"name": HINT, "text": "Reload a page that failed."},
    },
    {
        "name": "server-error+hint",
        "scenario": "paper/server-error",
        "defence": {"name": HINT, "text": "Reload a page that failed."},
    },
    {"name": "slow x0.5", "scenario": "paper/slow", "intensity": 0.5},
    {"name": "slow x1", "scenario": "paper/slow", "intensity": 1.0},
    {"name": "slow x2", "scenario": "paper/slow", "intensity": 2.0},
    {"name": "slow x4", "scenario": "paper/slow", "intensity": 4.0},
)

_SOLVES = {"steady": 0.92, "hasty": 0.8, "brittle": 0.7}
_RECOVERS = {"steady": 0.85, "hasty": 0.5, "brittle": 0.12}


def make(path: Path, tasks: int = 16, repeats: int = 2) -> Path:
    """Write the run into ``path``; return it."""
    path.mkdir(parents=True, exist_ok=True)
    conditions: list[JsonValue] = [dict(condition) for condition in CONDITIONS]
    agents: list[JsonValue] = [{"name": name, "model": model} for name, model in MODELS.items()]
    write_manifest(
        path / MANIFEST,
        Manifest(
            campaign={
                "name": "sample",
                "agents": agents,
                "conditions": conditions,
                "notes": ["Made up: each outcome was drawn, nobody was measured."],
            },
            vocabularies={"testbed": WORDS.model_dump(mode="json")},
            versions={"warex": "0.1.0", "python": "3.13.0", "chromium": "140.0"},
            seed=7,
            prices_date="2025-08-31",
            made_at="2026-01-05T09:00:00+00:00",
            command=["warex", "run", "sample.toml", "--out", "runs/sample"],
        ),
    )
    for agent in MODELS:
        for condition in CONDITIONS:
            for number in range(tasks):
                for repeat in range(1, repeats + 1):
                    task = f"{KINDS[number % len(KINDS)]}-task-{number:02}"
                    name = str(condition["name"])
                    _trial(path, TrialKey("testbed", agent, name, task, repeat), condition)
    return path


def _trial(path: Path, key: TrialKey, condition: dict[str, JsonValue]) -> None:
    about = (key.agent, key.condition, key.task, key.repeat)
    folder = attempt_dir(path, key, 1)
    folder.mkdir(parents=True)
    if draw(1, "void", *about) < 0.004:
        write_outcome(folder, Void(reason="the browser did not start"))
        return
    # Most of the variance is between tasks, as in real runs.
    rng = 0.75 * draw(1, key.agent, key.task, key.repeat) + 0.25 * draw(2, *about)
    able = rng < _SOLVES[key.agent]
    exposed = "scenario" in condition and draw(3, *about) < 0.93
    factor = condition.get("intensity")
    chance = _RECOVERS[key.agent] + (0.25 if "defence" in condition else 0.0)
    if isinstance(factor, float):
        chance -= 0.16 * factor
    recovers = draw(4, *about) < chance
    steps = 3 + int(4 * draw(5, *about))
    model = MODELS[key.agent]
    site = f"https://{key.task.partition('-')[0]}.warex.test/"
    story = Story(t=-1.0).began(key)
    if not condition.get("scenario"):
        story.events[0] = (
            story.t,
            msgspec.structs.replace(story.events[0][1], scenario=None),
        )
    story.thinks(1, "goto", (1800, 40), model)
    if exposed:
        story.fault(1, site)
        if recovers:
            story.thinks(2, "reload", (2600, 45), model, cached=900).page("x2", site)
        elif draw(6, *about) < 0.3:
            story.thinks(2, "click", (2600, 45), model)
    else:
        story.page("x1", site)
        if "scenario" in condition:
            story.missed("not_armed", count=3)
    gives_up = exposed and not recovers
    if not gives_up:
        for step in range(3, steps):
            story.thinks(step, "click", (2400 + 150 * step, 50), model)
    story.thinks(steps, "send_msg_to_user", (3000, 60), model).stops()
    watched = key.condition != "no-proxy"
    if watched:
        story.write(folder / EVENTS)
    done = able and not gives_up
    ending: Ending = "reported_infeasible" if gives_up else "answered"
    latency = 8 * steps * (0.8 + 0.4 * draw(7, *about)) * (0.45 if gives_up else 1.0)
    write_outcome(folder, Counted(ending=ending, score=float(done), latency_s=round(latency, 2)))
