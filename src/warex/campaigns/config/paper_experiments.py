"""The paper's experiments on each benchmark: model, tasks and steps.

Section 4.1 of *WAREX: Web Agent Reliability Evaluation on Existing Benchmarks* (arXiv 2510.03285).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from pydantic import JsonValue

MODEL = "gpt-4o"

GITLAB_AND_REDDIT = (
    *("552", "553", "554", "555", "562", "563", "564", "565", "566"),
    *("681", "682", "683", "684", "685", "686", "687", "688", "791"),
)
"""WebArena's tasks that need both sites, by ``sites`` in its test.raw.json."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """The paper's setup on one benchmark."""

    max_steps: int
    observation: tuple[str, ...]
    """What the agent's model sees of a page."""
    tasks: Mapping[str, JsonValue]
    comment: str
    """A comment about the tasks."""
    timeout_s: float = 600.0
    """WAREX's value: the paper gives none. Its slowest agent took 330 s a task on average."""
    jobs: int = 1
    """WAREX's value: more than one if each trial has its own environment."""
    sites: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, JsonValue] = field(default_factory=dict)


_WEBARENA = Experiment(
    max_steps=20,
    observation=("axtree",),
    tasks={"without_sites": ["map", "wikipedia"], "without": list(GITLAB_AND_REDDIT)},
    comment=(
        "The paper ran 660 of WebArena's 812 tasks, without the map, and does not name them. 684 do"
        " without the map. Exactly 660 are left where the two other groups go that need GitLab and"
        " one more site: 6 with Wikipedia and these 18 with Reddit. For all 684 write"
        " without_sites alone, of the map."
    ),
    # The addresses of WebArena's environment_docker/README.md.
    sites={
        "shopping": "http://127.0.0.1:7770",
        "shopping_admin": "http://127.0.0.1:7780/admin",
        "reddit": "http://127.0.0.1:9999",
        "gitlab": "http://127.0.0.1:8023",
    },
)

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        "webarena": _WEBARENA,
        "step": _WEBARENA,
        "real": Experiment(
            max_steps=25,
            observation=("axtree", "screenshot"),
            tasks={"all": True},
            comment=(
                "All 112, as in the paper. To a model that takes no pictures, as the paper's"
                " GPT-OSS, show only the axtree. With nav among the actions the demo agent has"
                " goto, by which the paper's reloaded; by itself it can load no page again."
            ),
            jobs=2,
            options={"actions": ["chat", "bid", "infeas", "nav"]},
        ),
        "webvoyager": Experiment(
            max_steps=30,
            observation=("screenshot", "html"),
            tasks={"all": True},
            comment="All 643 on 15 live sites, as in the paper; the sites have changed since.",
            timeout_s=900.0,
            jobs=2,
            options={"judge": True, "judge_model": MODEL},
        ),
    }
)
"""By the benchmark's name."""
