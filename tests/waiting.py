"""Waiting in a test for what another thread or process does."""

import inspect
import time
from collections.abc import Callable
from functools import partial


def wait_until(condition: Callable[[], object], seconds: float = 30) -> None:
    """Ask again and again until ``condition`` is true; ``seconds`` bounds a hang.

    Raises AssertionError with the condition's source and its last value.
    """
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, (
            f"not true within {seconds:g} s, last {value!r}: {source_of(condition)}"
        )
        time.sleep(0.005)


def source_of(condition: Callable[..., object]) -> str:
    """Return the code of a condition in one line, or its name where it has one."""
    if isinstance(condition, partial):
        named = (f"{name}={value!r}" for name, value in condition.keywords.items())
        return f"{source_of(condition.func)}({', '.join((*map(repr, condition.args), *named))})"
    name = getattr(condition, "__qualname__", repr(condition))
    if not name.endswith("<lambda>"):
        return name
    try:
        return " ".join(inspect.getsource(condition).split())
    except OSError:
        return name
