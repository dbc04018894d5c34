"""The random scenarios of the collected trials."""

import random  # noqa: TID251  (Of the collection, not of a trial.)
from typing import Any
from urllib.parse import urlsplit

from tests.analysis.trajectories.collector.tasks import Task

_BESIDE: list[tuple[str, str | None, str | None]] = [
    ("*/logo.svg", None, "image"),
    ("*/style.css", None, "stylesheet"),
    ("*/a.js", None, "script"),
    ("*/site.js", None, "script"),
]
_STATUSES = (500, 500, 502, 503, 503, 504, 404, 403, 429)


def draw(task: Task, base: str, rng: random.Random) -> tuple[dict[str, Any], str]:
    """Return a scenario and its kind: `connection`, `scripts`, `beside` or `requests`."""
    kind = rng.choices(["connection", "scripts", "beside", "requests"], [18, 10, 6, 66])[0]
    if kind == "connection":
        rules = [_connection(task, base, rng)]
    elif kind == "scripts":
        rules = [_scripts(base, rng)]
    elif kind == "beside":
        rules = [_request(rng.choice(_BESIDE), rng), _request(rng.choice(task.targets), rng)]
    else:
        targets = rng.sample(task.targets, k=rng.choice([1, 2, 2]))
        rules = [_request(target, rng) for target in targets]
    for number, rule in enumerate(rules, 1):
        rule["name"] = f"rule-{number}"
    arm = "start" if kind == "requests" and rng.random() < 0.3 else "first_llm_call"
    return {"name": "collected", "arm": arm, "rules": rules}, kind


def _request(target: tuple[str, str | None, str | None], rng: random.Random) -> dict[str, Any]:
    url, method, resource = target
    match: dict[str, Any] = {"url": url}
    if method:
        match["method"] = [method]
    if resource:
        match["resource"] = [resource]
    late = rng.choice(["request", "response", "response"] if method else ["request", "response"])
    cut = {"kind": "connection_cut", "stage": late, "how": rng.choice(["reset", "close"])}
    faults: list[dict[str, Any]] = [
        {"kind": "http_error", "status": rng.choice(_STATUSES), "stage": late},
        {"kind": "http_error", "status": rng.choice(_STATUSES), "stage": late},
        {"kind": "http_error", "status": 503, "delay": rng.choice([1, 3, 6]), "stage": late},
        cut,
        cut,
        cut | {"delay": rng.choice([2, 5, 11])},
        {"kind": "network_error", "delay": rng.choice([0.5, 2, 5, 10, 14]), "stage": late},
    ]
    triggers: list[dict[str, Any]] = [
        *({"first": 1}, {"first": 2}, {"first": 2}, {"first": 3}),
        *({"nth": 2}, {"nth": [1, 3]}, {"random": {"times": 2, "probability": 0.6}}),
    ]
    return {"match": match, "trigger": rng.choice(triggers), "fault": rng.choice(faults)}


def _scripts(base: str, rng: random.Random) -> dict[str, Any]:
    fault: dict[str, Any] = {"kind": "javascript_failure", "delay": rng.choice([0.5, 2, 4, 8])}
    if rng.random() < 0.3:
        fault["mode"] = "delay"
    times = rng.choice([1, 2, 3])
    return {
        "match": {"url": f"{base}/*"},
        "trigger": {"first": times},
        "fault": fault,
        "per": "url",
    }


def _connection(task: Task, base: str, rng: random.Random) -> dict[str, Any]:
    parts = urlsplit(rng.choice(task.targets)[0])
    origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else base
    kinds: list[dict[str, Any]] = [
        {"kind": "connection_refused", "hold": rng.choice([2, 4, 8])},
        {"kind": "connection_timeout", "hold": rng.choice([2, 4])},
        {"kind": "dns_failure", "code": rng.choice(["nxdomain", "servfail"]), "hold": 3},
    ]
    if origin.startswith("https"):
        hows = ["expired", "wrong_host", "self_signed", "cut"]
        kinds += [{"kind": "tls_error", "how": rng.choice(hows), "hold": rng.choice([2, 5])}] * 2
    trigger: dict[str, Any] = {"first": rng.choice([1, 2, 2])}
    if rng.random() < 0.5:
        trigger["after_step"] = rng.choice([1, 2])
    return {"match": {"url": f"{origin}/*"}, "trigger": trigger, "fault": rng.choice(kinds)}
