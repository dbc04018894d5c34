"""Where two trials diverge, in words."""

from collections.abc import Iterator

from warex.analysis.steps.divergence import Divergence
from warex.analysis.steps.path import PathStep
from warex.text.english import count_noun
from warex.traces.paths import TrialKey

_LONGEST = 120
"""Maximum characters of what a step does."""
_DIFFERENCES = ("condition", "agent", "task", "repeat", "benchmark")


def trial_names(keys: tuple[TrialKey, TrialKey]) -> tuple[str, str]:
    """Return short names of two trials: what differs in their keys, else first and second."""
    differing = [name for name in _DIFFERENCES if _part(keys[0], name) != _part(keys[1], name)]
    if not differing:
        return "first", "second"
    one, other = (" / ".join(_part(key, name) for name in differing) for key in keys)
    return one, other


def describe_divergence(divergence: Divergence, names: tuple[str, str]) -> Iterator[str]:
    """Yield sentences: the first divergence, the fault before it, and what becomes of it."""
    first = divergence.first
    if first is None:
        steps = count_noun(divergence.equal, "step")
        yield f"Both do the same: {steps}." if divergence.equal else "Neither has a step."
        return
    after = count_noun(divergence.equal, "equal step")
    number = next(step.number for step in first if step)
    acts = "; ".join(
        f"{name}: {describe_step(step)}" for name, step in zip(names, first, strict=True)
    )
    yield f"They diverge at step {number}, after {after}: {acts}."
    yield _fault(divergence, names)
    yield from _describe_rest(divergence, names)


def describe_step(step: PathStep | None) -> str:
    """Return what an agent did in a step, with the names of its elements, in one line."""
    if step is None:
        return "has ended"
    if not step.actions:
        text = " ".join(step.answer.split())
        return f"says {_short(text)!r}" if text else "gives no answer"
    acts = [
        f"{action} ({name})" if (name := step.element_name(action)) else action
        for action in step.actions
    ]
    return _short("; ".join(acts))


def _fault(divergence: Divergence, names: tuple[str, str]) -> str:
    faults = [
        f"{name} met {fault.kind} ({fault.injection}) on {fault.url}"
        for name, fault in zip(names, divergence.faults, strict=True)
        if fault
    ]
    match divergence.place:
        case "at_fault":
            return f"Just before, {' and '.join(faults)}. What follows is downstream of it."
        case "after_fault":
            return f"Earlier, {' and '.join(faults)}. What follows is downstream of the divergence."
        case _:
            return "No fault was delivered before: it is the agent's own variation."


def _describe_rest(divergence: Divergence, names: tuple[str, str]) -> Iterator[str]:
    rejoined, sustained = divergence.rejoined, divergence.sustained
    if rejoined is None:
        yield "They do not converge again."
        return
    yield f"They converge again at {_numbers(rejoined, names)}."
    if sustained is not None:
        yield f"They diverge for good at {_numbers(sustained, names)}."
    else:
        yield "They end alike."


def _numbers(steps: tuple[PathStep | None, PathStep | None], names: tuple[str, str]) -> str:
    return " and ".join(
        f"step {step.number} of {name}" if step else f"the end of {name}"
        for name, step in zip(names, steps, strict=True)
    )


def _part(key: TrialKey, name: str) -> str:
    value = getattr(key, name)
    return f"repeat {value}" if name == "repeat" else str(value)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
