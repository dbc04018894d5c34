"""Command-line options of a campaign's run."""

from dataclasses import dataclass

from warex.sandbox.isolation import RequestedIsolation


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of one invocation; None uses the campaign's value."""

    jobs: int | None = None
    limit: int | None = None
    resume: bool = False
    ray: str | None = None
    """Address of a Ray cluster; ``local`` starts one."""
    isolate: RequestedIsolation | None = None
    command: tuple[str, ...] = ()
    """The command line that reproduces the run, for the manifest; empty if there is none."""
