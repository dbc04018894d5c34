"""The base class of benchmark adapters.

An adapter is made from the campaign's table. For each trial it starts the task's environment
(``start_environment``), returns the command that runs the agent (``command``), and reads the result
(``read``). It neither imports nor changes the benchmark's code.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar
from urllib.parse import urlsplit

from pydantic import BaseModel

from warex.benchmarks.installation.recipe import Recipe
from warex.benchmarks.installation.virtualenv import Virtualenv, find_virtualenv
from warex.benchmarks.table import BenchmarkConfig
from warex.errors import CampaignError, MachineError
from warex.llm.actions.parser import Vocabulary
from warex.llm.embedded import is_mock_model
from warex.proxy.certificates.ca import CertificateAuthority
from warex.sandbox.chromium import find_chromium
from warex.sandbox.doctor.finding import Finding
from warex.scenarios import Arm, Scenario
from warex.scenarios.mistakes import format_errors, unknown_name, validate_document
from warex.traces import NO_PROXY, Ending, Trace

AGENT_LOG = "agent.log"
"""File in an attempt's folder with the output of the agent's command."""


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
    host_ports: tuple[int, ...] = ()
    """Ports of this machine's loopback that the command itself uses."""


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt at a task: all that the command may depend on."""

    task: str
    agent: AgentSpec
    folder: Path
    """The attempt's folder, new for each; it receives the harness's files."""
    scratch: Path
    """A new folder for caches and homes, removed after the trial."""
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


def served_elsewhere(site: str) -> str:
    """Return why trials that need a site need the proxy."""
    return f"{site} is served from elsewhere, which only the proxy can do"


def no_proxy_refused(why: str, other_remedy: str = "") -> CampaignError:
    """Return the error for a campaign whose trials cannot run without the proxy."""
    return CampaignError(f"condition {NO_PROXY!r}: {why}; leave the condition out{other_remedy}")


class NoOptions(BaseModel, frozen=True, extra="forbid"):
    """Options of an adapter without options."""


class Benchmark(ABC):
    """One benchmark: its tasks, and how to run one by a command."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for docs/reference/benchmarks.md."""
    vocabulary: Vocabulary
    """The agent's actions, frozen into the manifest."""
    artifacts: ClassVar[tuple[str, ...]] = ()
    """Globs of the command's files in the attempt's folder, redacted after it has ended."""
    setup_help: ClassVar[str] = ""
    """Requirements and setup, for ``warex benchmarks show``."""
    arming_help: ClassVar[str] = ""
    """What ``arm`` does and why."""
    example: ClassVar[str] = ""
    """A campaign file to copy."""
    starter_files: ClassVar[tuple[str, ...]] = ()
    """Files that the example names: paths below ``command/starter``."""
    opens_page_first: ClassVar[bool] = False
    """Whether its agent first opens a page of the task's site, which replaces the canary."""
    headless: ClassVar[bool] = False
    """Whether its agent's browser never has a window."""
    recipe: ClassVar[Recipe | None] = None
    """Recipe of its own environment; None if it needs none."""
    options_model: ClassVar[type[BaseModel]] = NoOptions
    """Model of the table's ``options``."""
    site_names: ClassVar[tuple[str, ...] | None] = ()
    """Site names allowed in the table's ``sites``; None for origins."""
    observations: ClassVar[tuple[frozenset[str], ...]] = ()
    """Values allowed for an agent's ``observation``; none if it cannot be chosen."""

    isolated: bool = True
    """Whether trials do not affect each other; otherwise they run one at a time."""
    judge_user_agents: tuple[str, ...] = ()
    """User-Agent prefixes of the benchmark's own judges: excluded from faults and counts."""
    api_key_variables: tuple[str, ...] = ()
    """API keys that its clients require; an unset one gets a placeholder."""
    base_url_variable: str | None = None
    """The variable that its client reads for the endpoint, if any."""
    variables: Mapping[str, str] = MappingProxyType({})
    """Variables that the campaign sets for its commands, with placeholders."""
    mock_model_name: ClassVar[str] = "gpt-4o-mini"
    """The model name that the harness uses with a playbook."""

    def __init__(self, table: BenchmarkConfig | None = None) -> None:
        """Take the campaign's table; raise CampaignError if it is invalid."""
        self.table = table or BenchmarkConfig(name=self.name)
        self.options = self._options()
        self._check_table()

    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """Return the names of all tasks, in the benchmark's order."""

    def scripted_task_files(self) -> tuple[Path, ...]:
        """Return the task files for the embedded scripted model, if it knows the tasks."""
        return ()

    @abstractmethod
    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origins of the task's sites in the browser."""

    def site_names_of(self, task: str) -> tuple[str, ...]:
        """Return the sites that the task needs, as a campaign's ``tasks.sites`` names them."""
        return tuple(urlsplit(origin).hostname or origin for origin in self.sites(task))

    def vocabulary_of(self, task: str) -> Vocabulary:
        """Return the actions of the agent that works on a task."""
        return self.vocabulary

    def exclusions(self, task: str) -> tuple[str, ...]:
        """Return globs of excluded URLs: setup, judging, the harness's own."""
        return ()

    @abstractmethod
    def arm(self, scenario: Scenario, task: str) -> Arm:
        """Return when faults may begin, so that they do not break the harness's setup."""

    def endpoints(self, agent: AgentSpec) -> tuple[str, ...]:
        """Return the harness's hard-coded base URLs, ``https://…/v1``.

        The proxy maps them to ``agent.base_url``.
        """
        return ()

    def validate(
        self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool = False
    ) -> None:
        """Raise CampaignError or MachineError, before anything runs, for what cannot run.

        ``direct``: some trials run without a proxy, and so without mapped hosts.
        """
        if self.recipe is not None:
            self.virtualenv()
        for agent in agents:
            self._check_endpoint(agent)
            self._check_observation(agent)
        if direct and (why := self.needs_proxy()):
            raise no_proxy_refused(why)

    def needs_proxy(self) -> str | None:
        """Return why trials need the proxy, if that follows from the table."""
        mapped = maps_of(self.table.sites) if self.site_names is None else ()
        return served_elsewhere(mapped[0].partition("=")[0]) if mapped else None

    def require_keys(self, agents: Sequence[AgentSpec], environment: Mapping[str, str]) -> None:
        """Raise MachineError for a model behind an API whose key is not set.

        Harnesses retry for minutes and then report another error.
        """
        enough = (*self.api_key_variables, self.base_url_variable or "")
        if not self.api_key_variables or any(map(environment.get, enough)):
            return
        for agent in agents:
            if agent.base_url is None and not agent.is_mock:
                raise MachineError(
                    f"agent {agent.name!r}: its model {agent.model!r} is behind an API, whose key"
                    f" is not set: set {' or '.join(self.api_key_variables)}, or give a base_url"
                )

    def diagnose(self) -> Iterator[Finding]:
        """Yield findings about its requirements, for ``warex doctor``."""
        if self.recipe is not None:
            found = find_virtualenv(self.name, self.recipe, self.table.installation_dir)
            yield Finding("environment", found[1], found[2])
        try:
            yield Finding("browser", "ok", str(self.find_browser()))
        except MachineError as error:
            yield Finding("browser", "missing", str(error))
        if self.api_key_variables:
            yield _keys(self.api_key_variables)

    def find_browser(self) -> Path:
        """Return the browser for its trials; raise MachineError if there is none."""
        return find_chromium(headless_shell=self.headless)

    def lint(self, scenario: Scenario, task: str) -> Iterator[str]:
        """Yield a lint warning for each rule that may have no effect on this benchmark."""
        yield from ()

    def command_texts(self, task: str) -> Iterator[str]:
        """Yield the texts of its command that may contain addresses of this machine."""
        yield from self.variables.values()

    @abstractmethod
    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[TaskEnvironment]:
        """Start a fresh environment for the task.

        ``direct``: the browser uses no proxy, so sites on this machine serve TLS themselves, with
        certificates of the CA. Raises TrialVoid if the environment does not start.
        """

    def shared_environment(self) -> AbstractContextManager[None]:
        """Keep resources that serve several trials until the block ends.

        Otherwise ``start_environment`` starts and ends everything for each trial.
        """
        return nullcontext()

    @abstractmethod
    def command(self, job: Job, stage: TaskEnvironment) -> Command:
        """Return the command that runs the agent on the task."""

    def was_visited(self, stage: TaskEnvironment) -> bool | None:
        """Return whether a page of the task's sites was requested; None if unknown.

        Raises TrialVoid if the environment does not answer.
        """
        return None

    @abstractmethod
    def read(self, task: str, stage: TaskEnvironment, folder: Path, code: int | None) -> TaskResult:
        """Return the result; ``code`` is the command's exit code, None if it timed out.

        A harness without a result is ``harness_crashed``: void before any fault was delivered,
        counted with 0 after. Raises TrialVoid if the benchmark's own record cannot be read.
        """

    def score_after_trial(
        self, task: str, folder: Path, result: TaskResult, trace: Trace | None
    ) -> TaskResult:
        """Return the final result, scored after agent and proxy have ended.

        No request that it makes can meet a fault. ``trace`` is None without a proxy. Raises
        TrialVoid if the task cannot be scored.
        """
        return result

    def virtualenv(self) -> Virtualenv:
        """Return the benchmark's own environment.

        Raises CampaignError if the table names none, MachineError if it does not exist.
        """
        if self.recipe is None:
            raise CampaignError(f"the benchmark {self.name!r} has no environment of its own")
        made, state, sentence = find_virtualenv(self.name, self.recipe, self.table.installation_dir)
        if self.table.installation_dir is None:
            raise CampaignError(sentence)
        if made is None or state != "ok":
            raise MachineError(sentence)
        return made

    def _options(self) -> BaseModel:
        made, mistakes = validate_document(self.options_model, self.table.options)
        if made is None:
            raise CampaignError(format_errors("benchmark.options", mistakes))
        return made

    def _check_table(self) -> None:
        if self.recipe is None and self.table.dir is not None:
            raise CampaignError(
                f"benchmark.dir: the benchmark {self.name!r} has no environment of its own; leave"
                " the key out"
            )
        for site, target in self.table.sites.items():
            self._check_site(site, target)

    def _check_site(self, site: str, target: str) -> None:
        known = self.site_names
        if known is None:
            for origin in (site, target):
                if not _is_url(origin) or urlsplit(origin).path not in ("", "/"):
                    raise CampaignError(
                        f"benchmark.sites: {origin!r} is no origin; write for instance"
                        " https://shop.example"
                    )
        elif site not in known:
            there = unknown_name("there is no site", site, known)
            none = f"there is no site {site!r}; {self.name} takes none"
            raise CampaignError(f"benchmark.sites: {there if known else none}")
        if not _is_url(target):
            raise CampaignError(
                f"benchmark.sites.{site}: {target!r} is no URL; write for instance"
                " http://127.0.0.1:7770"
            )

    def _check_observation(self, agent: AgentSpec) -> None:
        if agent.observation is None or frozenset(agent.observation) in self.observations:
            return
        given = f"agent {agent.name!r}: observation = [{', '.join(agent.observation)}]"
        if not self.observations:
            raise CampaignError(
                f"{given}: what {self.name} shows its model cannot be chosen so; leave the key out"
            )
        allowed = " or ".join(f"[{', '.join(sorted(each))}]" for each in self.observations)
        raise CampaignError(f"{given}: {self.name} can show its model {allowed}")

    def _check_endpoint(self, agent: AgentSpec) -> None:
        if agent.base_url is None:
            return
        for endpoint in self.endpoints(agent):
            wanted, given = urlsplit(endpoint).path, urlsplit(agent.base_url).path
            if wanted.rstrip("/") != given.rstrip("/"):
                right = f"{urlsplit(agent.base_url)._replace(path=wanted, query='').geturl()!r}"
                raise CampaignError(
                    f"agent {agent.name!r}: {self.name} calls {endpoint}, whatever it is told, and"
                    f" the proxy can put another host in its place, but no other path: the path of"
                    f" base_url must be {wanted}, as in {right}, and it is {agent.base_url!r}"
                )


def _keys(variables: Sequence[str]) -> Finding:
    if given := [name for name in variables if os.environ.get(name)]:
        return Finding("keys", "ok", f"{', '.join(given)} set", needed=False)
    return Finding(
        "keys",
        "missing",
        f"none of {', '.join(variables)} is set: a model behind an API wants one; a playbook and an"
        " endpoint of your own do not",
        needed=False,
    )


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
