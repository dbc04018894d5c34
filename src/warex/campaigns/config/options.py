"""Command-line options of a campaign's run."""

from dataclasses import dataclass
from typing import Final, get_args

from warex.errors import InputError
from warex.sandbox.isolation import Isolation, RequestedIsolation
from warex.text.english import listing

MAX_JOBS: Final = 256


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one invocation; None uses the campaign's value.

    Raises InputError for values that are not allowed, which only a caller in Python can give.
    """

    jobs: int | None = None
    limit: int | None = None
    resume: bool = False
    ray: str | None = None
    """Address of a Ray cluster; ``local`` starts one."""
    isolate: RequestedIsolation | None = None
    command: tuple[str, ...] = ()
    """The command line that reproduces the run, for the manifest; empty if there is none."""

    def __post_init__(self) -> None:
        if self.jobs is not None and not _is_positive_integer(self.jobs, MAX_JOBS):
            raise InputError(f"jobs={self.jobs!r}: give a whole number from 1 to {MAX_JOBS}")
        if self.limit is not None and not _is_positive_integer(self.limit):
            raise InputError(f"limit={self.limit!r}: give a whole number from 1 on")
        if not isinstance(self.resume, bool):
            raise InputError(f"resume={self.resume!r}: give True or False")
        if self.ray is not None and not isinstance(self.ray, str):
            raise InputError(f"ray={self.ray!r}: give an address, or 'local'")
        isolations = (*get_args(Isolation.__value__), "auto")
        if self.isolate is not None and self.isolate not in isolations:
            choices = listing(map(repr, isolations), "or")
            raise InputError(f"isolate={self.isolate!r}: give {choices}")


def _is_positive_integer(value: object, most: int | None = None) -> bool:
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return value >= 1 and (most is None or value <= most)
