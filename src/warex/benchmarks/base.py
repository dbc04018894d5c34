"""What a benchmark adapter must know."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from warex.llm.actions import Vocabulary
from warex.proxy.ca import CertificateAuthority
from warex.scenarios import Arm, Scenario
from warex.traces import Ending

AGENT_LOG = "agent.log"
"""In an attempt's folder: what the agent's command printed."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent as a campaign names it."""

    name: str
    model: str
    base_url: str | None = None
    """An OpenAI-compatible endpoint; None for the client's own default."""
    screenshot: bool = False
    max_steps: int = 25


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a task, read from the benchmark's own record."""

    ending: Ending
    score: float
    answer: str | None = None
    reasons: tuple[str, ...] = ()
    unusable: str | None = None
    """Why nothing of this says anything about the agent; None if it does."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A task's world, up and running for one trial."""

    maps: tuple[str, ...] = ()
    """Origins served from elsewhere, as ``--map`` takes them."""
    direct_hosts: Mapping[str, int] = field(default_factory=dict)
    """Without a proxy: hosts whose TLS is served on a port of loopback."""


class Benchmark(ABC):
    """One benchmark: its tasks, and how one is run by command."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for docs/reference/benchmarks.md."""
    vocabulary: ClassVar[Vocabulary]
    """The agent's actions, frozen into the manifest."""
    records: ClassVar[tuple[str, ...]] = ()
    """Files that the command leaves in the attempt's folder, redacted once it has ended."""

    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """Return the names of all tasks, in the benchmark's order."""

    def script(self) -> Path | None:
        """Return the task file for the embedded scripted model; None where it knows no task."""
        return None

    @abstractmethod
    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origins of the task's sites."""

    @abstractmethod
    def arm(self, scenario: Scenario) -> Arm:
        """Return from when on this benchmark bears the scenario's faults."""

    @abstractmethod
    def stage(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[Stage]:
        """Bring the task's world up, anew.

        ``direct``: the browser comes without a proxy, so sites of this machine speak TLS
        themselves, with certificates of the CA's. Raises TrialVoid where it does not come up.
        """

    @abstractmethod
    def command(
        self,
        task: str,
        agent: AgentSpec,
        folder: Path,
        *,
        browser: Path,
        browser_arguments: tuple[str, ...],
    ) -> list[str]:
        """Return the command that has the agent do the task."""

    def reached(self, stage: Stage) -> bool | None:
        """Return whether anybody asked for a page of the task's sites; None: nobody can tell.

        Raises TrialVoid where the task's world does not say.
        """
        return None

    @abstractmethod
    def read(self, task: str, stage: Stage, folder: Path, code: int | None) -> Result:
        """Return what came of it; ``code`` is the command's exit code, None if its time was up.

        Raises TrialVoid where the benchmark's own record cannot be read.
        """
