"""A trial as an adapter sees it: the agent, the task's environment, the command, the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from warex.llm.embedded import is_mock_model
from warex.traces import Ending


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent as a campaign names it."""

    name: str
    model: str
    """The model's name for the harness."""
    base_url: str | None = None
    """The model's API endpoint; None for the client's default."""
    screenshot: bool = False
    max_steps: int = 25
    observation: tuple[str, ...] | None = None
    """What the model is shown of a page; None for the harness's default."""

    @property
    def is_mock(self) -> bool:
        """Whether WAREX plays the model itself."""
        return is_mock_model(self.model)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The result of a task, read from the benchmark's own record."""

    ending: Ending
    score: float | None
    """None: the benchmark has no judge here, so the trial is unscored."""
    answer: str | None = None
    reasons: tuple[str, ...] = ()
    void_reason: str | None = None
    """Why the result does not count, or None."""


@dataclass(frozen=True, slots=True)
class TaskEnvironment:
    """A task's running environment for one trial."""

    maps: tuple[str, ...] = ()
    """Origins served from elsewhere, as ``--map`` takes them."""
    direct_hosts: Mapping[str, int] = field(default_factory=dict)
    """Without a proxy: hosts, each with the loopback port that serves its TLS."""
    port: int = 0
    """Loopback port at which the adapter asks the environment for its state; 0 for none."""


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt at a task: all that the command may depend on."""

    task: str
    agent: AgentSpec
    folder: Path
    """The attempt's folder, new for each; it receives the harness's files."""
    scratch: Path
    """A new folder for caches and homes, removed when the command has ended."""
    seed: int
    """The trial's seed, the same for all agents and conditions."""
    browser: Path
    browser_arguments: tuple[str, ...] = ()
    """For a browser whose command line the harness does not write itself."""
    proxied: bool = True


@dataclass(frozen=True, slots=True)
class Command:
    """The command of a job."""

    arguments: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Added to the sandbox's environment."""
    cwd: Path | None = None


def maps_of(served: Mapping[str, str]) -> tuple[str, ...]:
    """Return ``origin=target`` maps, except where both are equal."""
    return tuple(f"{origin}={target}" for origin, target in served.items() if origin != target)
