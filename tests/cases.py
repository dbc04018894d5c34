"""Many cases in one test.

An item of pytest costs some milliseconds in several processes, often more than what it checks.
"""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def every(names: str, cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with each case, as ``pytest.mark.parametrize`` does, but as one test.

    All cases run; each failure carries its case. They share the fixtures of the test.
    """
    arguments = [name.strip() for name in names.split(",")]
    values = [case if len(arguments) > 1 else (case,) for case in cases]
    assert values, f"there are no cases of {names}"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_cases(**fixtures: object) -> None:
            failures: list[BaseException] = []
            for case in values:
                fields = dict(zip(arguments, case, strict=True))
                try:
                    test(**fixtures, **fields)
                except (Exception, pytest.fail.Exception, BaseExceptionGroup) as error:  # noqa: BLE001
                    error.add_note(f"The case: {fields!r}")
                    failures.append(error)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(values)} cases fail", failures)

        signature = inspect.signature(test)
        others = [it for it in signature.parameters.values() if it.name not in arguments]
        # What pytest reads, to know the fixtures.
        all_cases.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return all_cases

    return decorate
