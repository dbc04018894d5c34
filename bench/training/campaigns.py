"""The experiment's campaigns on the testbed, for examples and for live tests."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from warex_testbed.tasks import load_tasks

KNOWN_SITES: Final = ("calendar", "agenda", "shop", "market", "mail", "post")
UNSEEN_BRANDS: Final = ("planner", "outfitters", "inbox")
UNSEEN_KIND: Final = ("forum", "board", "talk")
HELD_OUT: Final = (*UNSEEN_BRANDS, *UNSEEN_KIND)

KNOWN_PAGES: Final = {
    "http_error": ("nginx", "edge_network", "django"),
    "network_error": ("chromium", "webview"),
}
UNSEEN_PAGES: Final = {
    "http_error": ("rails", "load_balancer", "apache"),
    "network_error": ("firefox", "internet_gateway"),
}
"""Families of error pages, by the kind of fault that shows them."""

CLEAN: Final = "clean"
FAULTS: Final = "faults"
SCRIPTED: Final = {"name": "patient", "model": "scripted:patient"}

LIVE_FAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "http-error": {"kind": "http_error", "page": "rails", "status": 500},
    "network-error": {"kind": "network_error", "page": "firefox", "status": 504, "delay": 0.1},
    "soft-error": {"kind": "soft_error"},
    "connection-cut": {"kind": "connection_cut"},
}
"""Of the first page: two with error pages that no training data have, two kinds that none have."""

MAX_STEPS: Final = 8
"""Of a ranker; 45 of the 52 tasks of the unseen sites need no more, with one to recover."""
_SHORT_PLAN: Final = 3
_PROBABILITY: Final = 0.08
_DELAY: Final = 0.1
"""Seconds of a network error; the paper's ten would only cost time."""


@dataclass(frozen=True, slots=True)
class Campaign:
    """The content of a campaign's file and of its scenarios."""

    name: str
    tasks: Mapping[str, Any]
    agents: Sequence[Mapping[str, Any]]
    scenarios: Mapping[str, Sequence[Mapping[str, Any]]]
    """The rules of each condition except ``clean``, which has none."""
    timeout_s: int = 120
    clean: bool = True
    """Whether the condition ``clean`` is run, too."""
    seed: int = 1
    """Of the sample of tasks and of the faults."""

    def write(self, folder: Path) -> Path:
        """Write the files as JSON; return the campaign's."""
        folder.mkdir(parents=True, exist_ok=True)
        conditions: list[dict[str, str]] = [{"name": CLEAN}] if self.clean else []
        for name, rules in self.scenarios.items():
            file = folder / f"{self.name}-{name}.json"
            file.write_text(json.dumps({"schema_version": 1, "name": name, "rules": list(rules)}))
            conditions.append({"name": name, "scenario": file.name})
        document = {
            "schema_version": 1,
            "name": self.name,
            "benchmark": "testbed",
            "tasks": dict(self.tasks),
            "timeout_s": self.timeout_s,
            "seed": self.seed,
            "agents": [{"observation": ["compact-axtree"], **agent} for agent in self.agents],
            "conditions": conditions,
        }
        campaign = folder / f"{self.name}.json"
        campaign.write_text(json.dumps(document, indent=2))
        return campaign


def known_sites(sample: int | None, *, clean: bool) -> Campaign:
    """Return the scripted agent on the known sites, with faults on random pages."""
    return Campaign(
        "known",
        tasks_of(KNOWN_SITES, sample),
        [SCRIPTED],
        {FAULTS: list(_random(KNOWN_PAGES))},
        clean=clean,
    )


def unseen_sites(sites: Sequence[str], sample: int | None, *, clean: bool) -> Campaign:
    """Return the scripted agent on held-out sites, with held-out error pages."""
    return Campaign(
        "unseen",
        tasks_of(sites, sample),
        [SCRIPTED],
        {FAULTS: list(_random(UNSEEN_PAGES))},
        clean=clean,
    )


def more_known(sample: int, *, seed: int) -> Campaign:
    """Return the scripted agent on the known sites again, with faults on other pages."""
    rules = list(_random(KNOWN_PAGES))
    tasks = tasks_of(KNOWN_SITES, sample)
    return Campaign("more", tasks, [SCRIPTED], {FAULTS: rules}, clean=False, seed=seed)


def rollout(name: str, base_url: str, sample: int, *, seed: int) -> Campaign:
    """Return the reference agent with a served model on a sample of the known sites' tasks."""
    agent = {"name": name, "model": name, "base_url": base_url, "max_steps": MAX_STEPS}
    rules, tasks = list(_random(KNOWN_PAGES)), tasks_of(KNOWN_SITES, sample)
    return Campaign(f"of-{name}", tasks, [agent], {FAULTS: rules}, clean=False, seed=seed)


def other_faults(sample: int | None) -> Campaign:
    """Return the scripted agent on held-out sites, with kinds of faults absent from training."""
    faults: Mapping[str, Mapping[str, Any]] = {
        "maintenance": {"kind": "maintenance_page", "retry_after": 120},
        "soft-error": {"kind": "soft_error"},
        "cut": {"kind": "connection_cut"},
    }
    return Campaign(
        "others",
        tasks_of(HELD_OUT, sample),
        [SCRIPTED],
        {name: [_rule(name, {"nth": [2]}, fault)] for name, fault in faults.items()},
    )


def live(
    name: str,
    model: str,
    base_url: str,
    tasks: Sequence[str],
    *,
    max_steps: int = 4,
    faults: Sequence[str] = tuple(LIVE_FAULTS),
) -> Campaign:
    """Return the reference agent with a served model on unseen sites, a fault on the first page.

    ``faults`` are names of ``LIVE_FAULTS``.
    """
    agent = {"name": name, "model": model, "base_url": base_url, "max_steps": max_steps}
    return Campaign(
        f"live-{name}",
        {"names": list(tasks)},
        [agent],
        {fault: [_rule(fault, {"first": 1}, LIVE_FAULTS[fault])] for fault in faults},
        timeout_s=300,
    )


def unseen_tasks() -> tuple[str, ...]:
    """Return the names of all tasks of the unseen sites."""
    return tuple(it.name for it in load_tasks() if it.host.partition(".")[0] in HELD_OUT)


def short_tasks(sites: Sequence[str], *, per_site: int | None = None) -> tuple[str, ...]:
    """Return the tasks of some sites whose plans have at most three steps, all or some per site."""
    names: dict[str, list[str]] = {site: [] for site in sites}
    for task in load_tasks():
        site = task.host.partition(".")[0]
        if site in names and len(task.oracle) <= _SHORT_PLAN:
            names[site].append(task.name)
    return tuple(name for some in names.values() for name in some[:per_site])


def tasks_of(sites: Sequence[str], sample: int | None) -> dict[str, Any]:
    """Return a campaign's choice of the tasks of some sites, all or a sample."""
    chosen: dict[str, Any] = {"sites": [f"{site}.warex.test" for site in sites]}
    return chosen if sample is None else {**chosen, "sample": sample}


def _random(pages: Mapping[str, Sequence[str]]) -> Iterator[dict[str, Any]]:
    """Yield a rule for each family, which fires once, on a random page of the task."""
    for kind, families in pages.items():
        for family in families:
            trigger = {"random": {"times": 1, "probability": _PROBABILITY}}
            yield _rule(f"{kind}-{family}", trigger, _fault(kind, family))


def _fault(kind: str, family: str) -> dict[str, Any]:
    fault = {"kind": kind, "page": family}
    return (
        {**fault, "status": 504, "delay": _DELAY}
        if kind == "network_error"
        else {**fault, "status": 500}
    )


def _rule(name: str, trigger: Mapping[str, Any], fault: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name.replace("_", "-"),
        "match": {"url": "{sites}", "resource": ["document"]},
        "trigger": dict(trigger),
        "per": "rule",
        "fault": dict(fault),
    }
