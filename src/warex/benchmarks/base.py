"""What a benchmark adapter must know.

An adapter is made of the campaign's table and says, for one trial after the other: bring the
task's world up (``stage``), by this command (``command``) the agent does the task, and that came
of it (``read``). It imports nothing of the benchmark, and changes nothing in it.
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
"""In an attempt's folder: what the agent's command printed."""


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent as a campaign names it."""

    name: str
    model: str
    """As the harness is to name it."""
    base_url: str | None = None
    """Where the model is asked, over its client's API; None for the client's own default."""
    screenshot: bool = False
    max_steps: int = 25
    observation: tuple[str, ...] | None = None
    """All that the model is shown of a page; None for what the harness shows by itself."""

    @property
    def is_mock(self) -> bool:
        """Whether WAREX plays the model itself, and gives it an address when the trial runs."""
        return is_mock_model(self.model)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What came of a task, read from the benchmark's own record."""

    ending: Ending
    score: float | None
    """None: the benchmark has no judge here, so the trial is unscored."""
    answer: str | None = None
    reasons: tuple[str, ...] = ()
    void_reason: str | None = None
    """Why nothing of this says anything about the agent; None if it does."""


@dataclass(frozen=True, slots=True)
class TaskEnvironment:
    """A task's world, up and running for one trial."""

    maps: tuple[str, ...] = ()
    """Origins served from elsewhere, as ``--map`` takes them."""
    direct_hosts: Mapping[str, int] = field(default_factory=dict)
    """Without a proxy: hosts whose TLS is served on a port of loopback."""
    host_ports: tuple[int, ...] = ()
    """Ports of this machine's loopback that the command itself talks to."""


@dataclass(frozen=True, slots=True)
class Job:
    """One go at a task: all that the command may depend on."""

    task: str
    agent: AgentSpec
    folder: Path
    """The attempt's, fresh for each; what the harness leaves belongs under it."""
    scratch: Path
    """Fresh too, and gone after the trial: caches, homes, data that nobody reads again."""
    seed: int
    """Of the trial: the same for all agents and conditions."""
    browser: Path
    browser_arguments: tuple[str, ...] = ()
    """For a browser whose command line the harness lets us write."""
    proxied: bool = True


@dataclass(frozen=True, slots=True)
class Command:
    """What is started for a job."""

    arguments: Sequence[str]
    variables: Mapping[str, str] = field(default_factory=dict)
    """Beside those of the way behind the proxy."""
    cwd: Path | None = None


def maps_of(served: Mapping[str, str]) -> tuple[str, ...]:
    """Return maps of origins to where they are served; none for one that is served as itself."""
    return tuple(f"{origin}={target}" for origin, target in served.items() if origin != target)


def served_elsewhere(site: str) -> str:
    """Say why no trial that needs a site can go without the proxy."""
    return f"{site} is served from elsewhere, which only the proxy can do"


def no_proxy_refused(why: str, other_remedy: str = "") -> CampaignError:
    """Return the error of a campaign whose trials without the proxy cannot run."""
    return CampaignError(f"condition {NO_PROXY!r}: {why}; leave the condition out{other_remedy}")


class NoOptions(BaseModel, frozen=True, extra="forbid"):
    """The options of an adapter that has none."""


class Benchmark(ABC):
    """One benchmark: its tasks, and how one is run by command."""

    name: ClassVar[str]
    summary: ClassVar[str]
    """One line for docs/reference/benchmarks.md."""
    vocabulary: Vocabulary
    """The agent's actions, frozen into the manifest."""
    artifacts: ClassVar[tuple[str, ...]] = ()
    """Globs of what the command leaves in the attempt's folder, redacted once it has ended."""

    setup_help: ClassVar[str] = ""
    """What it needs and how it is set up, for ``warex benchmarks show``."""
    arming_help: ClassVar[str] = ""
    """In words, what ``arm`` does and why."""
    example: ClassVar[str] = ""
    """A campaign file that can be copied."""
    starter_files: ClassVar[tuple[str, ...]] = ()
    """The files that the example names, to begin with: paths below ``benchmarks/starter``."""

    opens_page_first: ClassVar[bool] = False
    """Whether its agent opens a page of the task's site before all else; that then proves that its
    browser comes through the proxy, in the canary's place."""

    headless: ClassVar[bool] = False
    """Whether its agent's browser never has a window."""

    recipe: ClassVar[Recipe | None] = None
    """How its own environment is made; None where it needs none."""
    options_model: ClassVar[type[BaseModel]] = NoOptions
    """What the table's ``options`` may hold."""
    site_names: ClassVar[tuple[str, ...] | None] = ()
    """What the table's ``sites`` may name; None for origins."""

    observations: ClassVar[tuple[frozenset[str], ...]] = ()
    """What an agent's ``observation`` may be; none where it cannot be chosen."""

    isolated: bool = True
    """Whether no trial sees what another one did; where it may, they run one at a time."""
    judge_user_agents: tuple[str, ...] = ()
    """How the User-Agent of the benchmark's own judges begins: never touched, never counted."""
    api_key_variables: tuple[str, ...] = ()
    """API keys its clients insist on; one that is not set gets a placeholder."""
    base_url_variable: str | None = None
    """The variable by which its client is told where to ask, if it reads one."""
    variables: Mapping[str, str] = MappingProxyType({})
    """What the campaign sets in the environment of its commands, unfilled."""
    mock_model_name: ClassVar[str] = "gpt-4o-mini"
    """The name by which the harness is to ask for a playbook, which answers to any."""

    def __init__(self, table: BenchmarkConfig | None = None) -> None:
        """Take the campaign's table; raise CampaignError for what cannot be in it."""
        self.table = table or BenchmarkConfig(name=self.name)
        self.options = self._options()
        self._check_table()

    @abstractmethod
    def tasks(self) -> tuple[str, ...]:
        """Return the names of all tasks, in the benchmark's order."""

    def scripted_task_files(self) -> tuple[Path, ...]:
        """Return the task files for the embedded scripted model; none where it knows no task."""
        return ()

    @abstractmethod
    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origins of the task's sites, as the browser knows them."""

    def site_names_of(self, task: str) -> tuple[str, ...]:
        """Return the sites that the task needs, as a campaign's ``tasks.sites`` names them."""
        return tuple(urlsplit(origin).hostname or origin for origin in self.sites(task))

    def vocabulary_of(self, task: str) -> Vocabulary:
        """Return the actions of the agent that works on a task."""
        return self.vocabulary

    def exclusions(self, task: str) -> tuple[str, ...]:
        """Return globs of URLs that no fault may touch: set-up, judging, the harness's own."""
        return ()

    @abstractmethod
    def arm(self, scenario: Scenario, task: str) -> Arm:
        """Return from when on this benchmark bears the scenario's faults."""

    def endpoints(self, agent: AgentSpec) -> tuple[str, ...]:
        """Return base URLs that the harness calls whatever it is told, ``https://…/v1``.

        What the campaign names is served in their place, by mapping; nothing is mapped for a
        client that the command tells ``agent.base_url``.
        """
        return ()

    def validate(
        self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool = False
    ) -> None:
        """Raise, before anything runs, for what could not run: no environment, no site.

        ``direct``: some trials go without a proxy, and so without mapped hosts.
        """
        if self.recipe is not None:
            self.virtualenv()
        for agent in agents:
            self._check_endpoint(agent)
            self._check_observation(agent)
        if direct and (why := self.needs_proxy()):
            raise no_proxy_refused(why)

    def needs_proxy(self) -> str | None:
        """Return why no trial can go without the proxy, where the table alone tells."""
        mapped = maps_of(self.table.sites) if self.site_names is None else ()
        return served_elsewhere(mapped[0].partition("=")[0]) if mapped else None

    def require_keys(self, agents: Sequence[AgentSpec], environment: Mapping[str, str]) -> None:
        """Raise MachineError for a model behind an API whose key nobody set.

        Harnesses try for minutes before they give up, and then say something else.
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
        """Yield what it needs of this machine and of its folder, for ``warex doctor``."""
        if self.recipe is not None:
            state, sentence = find_virtualenv(self.name, self.recipe, self.table.installation_dir)[
                1:
            ]
            yield Finding("environment", state, sentence)
        try:
            yield Finding("browser", "ok", str(self.find_browser()))
        except MachineError as error:
            yield Finding("browser", "missing", str(error))
        if self.api_key_variables:
            yield _keys(self.api_key_variables)

    def find_browser(self) -> Path:
        """Return the browser for its trials. Raises MachineError where there is none."""
        return find_chromium(headless_shell=self.headless)

    def lint(self, scenario: Scenario, task: str) -> Iterator[str]:
        """Yield a sentence for each thing that a scenario may not show on this benchmark."""
        yield from ()

    def command_texts(self, task: str) -> Iterator[str]:
        """Yield the texts of its command in which addresses of this machine may stand."""
        yield from self.variables.values()

    @abstractmethod
    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[TaskEnvironment]:
        """Bring the task's world up, anew.

        ``direct``: the browser comes without a proxy, so sites of this machine speak TLS
        themselves, with certificates of the CA's. Raises TrialVoid where it does not come up.
        """

    def shared_environment(self) -> AbstractContextManager[None]:
        """Keep, until the block ends, what can serve one trial after the other.

        Without it, ``stage`` starts all of a trial's world and ends it.
        """
        return nullcontext()

    @abstractmethod
    def command(self, job: Job, stage: TaskEnvironment) -> Command:
        """Return what has the agent do the task."""

    def was_visited(self, stage: TaskEnvironment) -> bool | None:
        """Return whether anybody asked for a page of the task's sites; None: nobody can tell.

        Raises TrialVoid where the task's world does not say.
        """
        return None

    @abstractmethod
    def read(self, task: str, stage: TaskEnvironment, folder: Path, code: int | None) -> TaskResult:
        """Return what came of it; ``code`` is the command's exit code, None if its time was up.

        A harness that left no result is ``harness_crashed``: void before any fault was delivered,
        counted with 0 after. Raises TrialVoid where the benchmark's own record cannot be read.
        """

    def score_after_trial(
        self, task: str, folder: Path, result: TaskResult, trace: Trace | None
    ) -> TaskResult:
        """Return what came of it once more, as the whole trial shows it.

        Called when agent and proxy have ended, so that nothing that is asked now can meet a fault.
        ``trace`` is None where there was no proxy. Raises TrialVoid where nobody can tell.
        """
        return result

    def virtualenv(self) -> Virtualenv:
        """Return the benchmark's own environment.

        Raises CampaignError where the table names none, MachineError where it is not there.
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
    given = [name for name in variables if os.environ.get(name)]
    if given:
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
