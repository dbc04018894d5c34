"""What an adapter provides: what it must implement, and what it may.

For each trial it starts the task's environment (``start_environment``), returns the command that
runs the agent (``command``), and reads the result (``read``). It neither imports nor changes the
benchmark's code.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel

from warex.benchmarks.installation.recipe import Recipe
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult, maps_of
from warex.benchmarks.table import BenchmarkConfig
from warex.llm.actions.vocabulary import Vocabulary
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.doctor.finding import Finding
from warex.scenarios import Arm, Scenario
from warex.traces import Trace


class NoOptions(BaseModel, frozen=True, extra="forbid"):
    """Options of an adapter without options."""


class Adapter(ABC):
    """One benchmark: its tasks, and how to run one by a command."""

    table: BenchmarkConfig
    """The campaign's table."""
    options: BaseModel
    """The table's ``options``, an ``options_model``."""

    # Required.

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for docs/reference/benchmarks.md."""
    vocabulary: Vocabulary
    """The agent's actions, frozen into the manifest."""

    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """Return the names of all tasks, in the benchmark's order."""

    @abstractmethod
    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origins of the task's sites in the browser."""

    @abstractmethod
    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return the command that runs the agent on the task."""

    @abstractmethod
    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Return the result; ``code`` is the command's exit code, None if it timed out.

        A harness without a result is ``harness_crashed``: void before any fault was delivered,
        counted with 0 after. Raises TrialVoid if the benchmark's own record cannot be read.
        """

    # Optional: what ``warex benchmarks show`` prints.

    setup_help: ClassVar[str] = ""
    """Requirements and setup."""
    arming_help: ClassVar[str] = ""
    """What ``arm`` does and why."""
    starter_files: ClassVar[tuple[str, ...]] = ()
    """Files that its ``examples/NAME.toml`` names: paths below ``command/starter``."""

    # Optional: the table and the agents.

    options_model: ClassVar[type[BaseModel]] = NoOptions
    site_names: ClassVar[tuple[str, ...] | None] = ()
    """Site names allowed in the table's ``sites``; None for origins."""
    observations: ClassVar[tuple[frozenset[str], ...]] = ()
    """Values allowed for an agent's ``observation``; none if it cannot be chosen."""
    recipe: ClassVar[Recipe | None] = None
    """Recipe of its own environment; None if it needs none."""
    headless: ClassVar[bool] = False
    """Whether its agent's browser never has a window."""
    mock_model_name: ClassVar[str] = "gpt-4o-mini"
    """The model name that the harness uses with a playbook."""
    api_key_variables: tuple[str, ...] = ()
    """API keys that its clients require; an unset one gets a placeholder."""
    base_url_variable: str | None = None
    """The variable that its client reads for the endpoint, if any."""

    def endpoints(self, agent: AgentSpec) -> tuple[str, ...]:
        """Return the harness's hard-coded base URLs, ``https://…/v1``.

        The proxy maps them to ``agent.base_url``.
        """
        return ()

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:  # noqa: B027 - optional
        """Raise CampaignError or MachineError, before anything runs, for what cannot run.

        ``direct``: some trials run without a proxy, and so without mapped hosts.
        """

    def needs_proxy(self) -> str | None:
        """Return why trials need the proxy, if that follows from the table."""
        mapped = maps_of(self.table.sites) if self.site_names is None else ()
        return served_elsewhere(mapped[0].partition("=")[0]) if mapped else None

    def findings(self) -> Iterator[Finding]:
        """Yield findings about its own requirements, for ``warex doctor``."""
        yield from ()

    # Optional: tasks.

    def site_names_of(self, task: str) -> tuple[str, ...]:
        """Return the sites that the task needs, as a campaign's ``tasks.sites`` names them."""
        return tuple(urlsplit(origin).hostname or origin for origin in self.sites(task))

    def vocabulary_of(self, task: str) -> Vocabulary:
        """Return the actions of the agent that works on a task."""
        return self.vocabulary

    def scripted_task_files(self) -> tuple[Path, ...]:
        """Return the task files for the embedded scripted model, if it knows the tasks."""
        return ()

    # Optional: which requests faults apply to.

    judge_user_agents: tuple[str, ...] = ()
    """User-Agent prefixes of the benchmark's own judges: excluded from faults and counts."""

    def exclusions(self, task: str) -> tuple[str, ...]:
        """Return globs of excluded URLs: setup, judging, the harness's own."""
        return ()

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        """Return when faults may begin, so that they do not break the harness's setup."""
        return "first_llm_call"

    def lint(self, scenario: Scenario, task: str) -> Iterator[str]:
        """Yield a lint warning for each rule that may have no effect on this benchmark."""
        yield from ()

    # Optional: trials.

    isolated: bool = True
    """Whether trials do not affect each other; otherwise they run one at a time."""
    opens_page_first: ClassVar[bool] = False
    """Whether its agent first opens a page of the task's site, which replaces the canary."""
    artifacts: ClassVar[tuple[str, ...]] = ()
    """Globs of files in the attempt's folder, redacted when command and judge have ended."""
    variables: Mapping[str, str] = MappingProxyType({})
    """Variables that the campaign sets for its commands, with placeholders."""

    def command_texts(self, task: str) -> Iterator[str]:
        """Yield the texts of its command that may contain addresses of this machine."""
        yield from self.variables.values()

    def shared_environment(self) -> AbstractContextManager[None]:
        """Keep resources that serve several trials until the block ends.

        Otherwise ``start_environment`` starts and ends everything for each trial.
        """
        return nullcontext()

    def maps(self, task: str) -> tuple[str, ...]:
        """Return the maps of an environment that needs nothing else: the table's sites."""
        return maps_of(self.table.sites)

    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[TaskEnvironment]:
        """Start a fresh environment for the task.

        ``direct``: the browser uses no proxy, so sites on this machine serve TLS themselves, with
        certificates of the CA. Raises TrialVoid if the environment does not start.
        """
        return nullcontext(TaskEnvironment(self.maps(task)))

    def was_visited(self, environment: TaskEnvironment) -> bool | None:
        """Return whether a page of the task's sites was requested; None if unknown.

        Raises TrialVoid if the environment does not answer.
        """
        return None

    def score_after_trial(self, job: Job, result: TaskResult, trace: Trace | None) -> TaskResult:
        """Return the final result, scored after agent and proxy have ended.

        No request that it makes can meet a fault. ``trace`` is None without a proxy. Raises
        TrialVoid if the task cannot be scored.
        """
        return result


def served_elsewhere(site: str) -> str:
    """Return why trials that need a site need the proxy."""
    return f"{site} is served from elsewhere, which only the proxy can do"
