"""Where two trials part, as JSON for ``warex diff --json``."""

from dataclasses import asdict

from pydantic import JsonValue

from warex.analysis.steps.divergence import Divergence
from warex.analysis.steps.path import PathStep

DIVERGENCE_VERSION = 1


def divergence_json(divergence: Divergence) -> dict[str, JsonValue]:
    """Return where two trials diverge as plain JSON.

    Pairs are of the first and of the second trial; null stands for a trial that has ended. ``seq``
    is a line of the trace, times are in seconds.
    """
    return {
        "schema_version": DIVERGENCE_VERSION,
        "equal_steps": divergence.equal,
        "steps": [len(path.steps) for path in divergence.paths],
        "place": divergence.place,
        "first_divergence": _pair(divergence.first),
        "faults": [asdict(fault) if fault else None for fault in divergence.faults],
        "rejoined": _pair(divergence.rejoined),
        "sustained_divergence": _pair(divergence.sustained),
        "aligned": [
            [path.steps[index].number for index, path in zip(pair, divergence.paths, strict=True)]
            for pair in divergence.pairs
        ],
    }


def _pair(
    steps: tuple[PathStep | None, PathStep | None] | None,
) -> list[JsonValue] | None:
    return None if steps is None else [_step(step) for step in steps]


def _step(step: PathStep | None) -> JsonValue:
    if step is None:
        return None
    return {
        "step": step.number,
        "seq": step.seq,
        "t": step.t,
        "actions": list(step.actions),
        "elements": [step.element_name(action) for action in step.actions],
        "answer": step.answer,
        "requests": [f"{request.method} {request.url}" for request in step.requests],
    }
