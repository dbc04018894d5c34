"""What the command line adds to a campaign's file."""

from dataclasses import dataclass

from warex.sandbox.isolation import RequestedIsolation


@dataclass(frozen=True, slots=True)
class RunOptions:
    """For one go at a campaign; what is not given is as the file has it."""

    jobs: int | None = None
    limit: int | None = None
    """Run at most this many trials now."""
    resume: bool = False
    ray: str | None = None
    """Address of a Ray cluster to run on; ``local`` starts one."""
    isolate: RequestedIsolation | None = None
    """Overrides the campaign's."""
    command: tuple[str, ...] = ()
    """The command line that repeats the run, as the manifest tells it; empty where none does."""
