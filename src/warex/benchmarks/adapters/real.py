"""REAL: clones of well-known sites, with its own harness and demo agent (agisdk).

The agisdk wheel contains the tasks and their evaluation; the sites are on the network. A task's
state is in the browser, so the harness opens the site's ``/config`` before the agent begins and
``/finish`` after it has ended. Both are excluded from faults.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from warex.benchmarks.adapters.real_options import DEMO, SUBSETS, RealOptions, vocabulary_for
from warex.benchmarks.arming import arm_on_first_page
from warex.benchmarks.artifacts import no_result, read_json_or_empty
from warex.benchmarks.base import Benchmark, no_proxy_refused
from warex.benchmarks.installation.playwright_browsers import browsers_for
from warex.benchmarks.installation.recipe import Install, Recipe
from warex.benchmarks.installation.virtualenv import Virtualenv
from warex.benchmarks.interface import served_elsewhere
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult, maps_of
from warex.benchmarks.single_page import replaces_document, spa_warnings
from warex.benchmarks.table import BenchmarkConfig
from warex.errors import CampaignError, MachineError
from warex.files.reading import read_regular_file
from warex.sandbox.doctor.finding import Finding
from warex.scenarios import Arm, Scenario
from warex.scenarios.mistakes import unknown_name
from warex.traces import Ending
from warex.traffic import origin_of

_CONFIG = "job.json"
_RESULTS = "results"
_SUMMARY = f"{_RESULTS}/*/summary_info.json"

_OPENAI = "https://api.openai.com/v1"
_ANTHROPIC = "https://api.anthropic.com"
_OPENROUTER = "https://openrouter.ai/api/v1"
_BY_OPENAI = ("gpt-", "o1", "o3")
_BY_ANTHROPIC = ("claude-", "sonnet-")
_BY_OPENROUTER = "openrouter/"

LONGEST_WAIT = 2.0
"""Seconds that the first page may be late: the harness waits five for it with its resources."""

_SHOWN = ("axtree", "html", "screenshot")

# tiktoken names its tables by the hash of their URL.
_TABLE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
_TABLES = "litellm/litellm_core_utils/tokenizers"

_CHECK = f"""
import json, os, pathlib, sysconfig
packages = pathlib.Path(sysconfig.get_path("purelib"))
os.environ["TIKTOKEN_CACHE_DIR"] = str(packages / {_TABLES!r})
from importlib.metadata import version
import tiktoken
from agisdk import REAL
tiktoken.encoding_for_model("gpt-4").encode("it counts without a network")
versions = {{name: version(name) for name in ("agisdk", "playwright", "openai")}}
print(json.dumps({{"versions": versions}}))
"""

_MODEL_ERRORS = re.compile(
    r"^(OpenAIError|AnthropicError|API\w*Error|AuthenticationError|PermissionDeniedError"
    r"|NotFoundError|RateLimitError|InternalServerError|BadRequestError|UnprocessableEntityError"
    r"|ConflictError"
    # Of Anthropic's client alone.
    r"|OverloadedError|ServiceUnavailableError|GatewayTimeoutError|DeadlineExceededError"
    r"|RequestTimeoutError|ClientClosedRequestError|HTTPNotImplementedError|PaymentRequiredError"
    r"|PreconditionFailedError|RetryableError|CredentialsError)$"
)
_TOO_LONG = re.compile(r"context.length|maximum context|too many tokens|too long", re.IGNORECASE)
_UNJUDGED = (
    "Validation endpoint not yet available",
    "Validation error",
    "Invalid JSON format",
    "No state data available",
    "LLM response is not a valid floating point number",
)
"""What its own judging fails with: that says nothing about the agent."""

_BY_AGENT = re.compile(r"\bin get_action\b")


class RealBenchmark(Benchmark):
    """REAL with its demo agent."""

    name: ClassVar = "real"
    summary: ClassVar = (
        "REAL with its demo agent (agisdk): 112 tasks on clones of well-known sites."
    )
    vocabulary = vocabulary_for("real-demo-agent", DEMO)
    artifacts: ClassVar = (_CONFIG, _SUMMARY, f"{_RESULTS}/*/experiment.log")
    options_model: ClassVar = RealOptions
    options: RealOptions
    # The demo agent does not accept screenshots alone.
    observations: ClassVar = tuple(
        frozenset(shown)
        for n in (1, 2, 3)
        for shown in combinations(_SHOWN, n)
        if shown != ("screenshot",)
    )
    site_names: ClassVar = (
        *("dashdish", "fly-unified", "gocalendar", "gomail", "marrisuite", "networkin"),
        *("omnizon", "opendining", "staynb", "topwork", "udriver", "zilloft"),
    )
    judge_user_agents = ("python-requests/",)
    api_key_variables = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY")
    base_url_variable = "OPENAI_BASE_URL"
    recipe: ClassVar = Recipe(
        pythons=("3.13", "3.12"),
        pins="pins/real.txt",
        # Without Ray, which only several workers need; litellm contains tiktoken's tables.
        installs=(
            Install(
                (
                    *("anthropic", "beautifulsoup4", "gymnasium", "jmespath", "lxml", "numpy"),
                    *("openai", "pillow", "playwright", "pyparsing", "python-dotenv", "regex"),
                    *("requests", "rich", "tiktoken", "tqdm"),
                )
            ),
            Install(("agisdk", "litellm"), dependencies=False),
        ),
        check=_CHECK,
    )
    setup_help: ClassVar = (
        "Its own environment (`warex benchmarks setup real --dir DIR`) and the network: the sites"
        " are evals-*.vercel.app. `sites` names stand-ins for them. A model is asked at"
        " api.openai.com or at the agent's base_url; 60 of the 112 tasks are judged by gpt-4.1 at"
        " the same address, the others by jmespath on the site's final state. Results are never"
        " submitted to the leaderboard."
    )
    arming_help: ClassVar = (
        "first_page where every fault answers with a body within 2 s, which the harness takes for a"
        " page; otherwise first_llm_call, since its own first navigation fails after 5 s or on a"
        " dead connection, and the task with it"
    )

    def __init__(self, table: BenchmarkConfig | None = None) -> None:
        super().__init__(table)
        chosen = self.options
        if chosen.vocabulary is not None:
            self.vocabulary = chosen.vocabulary
        elif chosen.agent is not None:
            self.vocabulary = vocabulary_for("real-own-agent", SUBSETS)
        elif chosen.actions is not None:
            self.vocabulary = vocabulary_for("real-demo-agent", chosen.actions)

    def tasks(self) -> tuple[str, ...]:
        """Return REAL's names of the tasks: ``v1.gomail-2``."""
        return tuple(self._tasks)

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origin of the task's site."""
        return (self._site(task)[1],)

    def site_names_of(self, task: str) -> tuple[str, ...]:
        """Return REAL's own name of the task's site."""
        return (self._site(task)[0],)

    def exclusions(self, task: str) -> tuple[str, ...]:
        """Return the URLs that set the site up, read its final state, and submit it."""
        origin = self._site(task)[1]
        # Some tasks' URLs end in a slash, and the harness adds one.
        ends = ("config?*", "finish", "finish?*", "submit?*")
        own = [f"{origin}{slash}{end}" for slash in ("/", "//") for end in ends]
        return (
            *own,
            "https://www.realevals.ai/*",
            "https://evaluate-production.up.railway.app/*",
            "https://openaipublic.blob.core.windows.net/*",
        )

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        """Return ``first_page`` for faults that its setup survives, else ``first_llm_call``."""
        # Without its scripts a site of REAL stays blank.
        if any("script" in rule.fault.default_resource for rule in scenario.rules):
            return "first_llm_call"
        return arm_on_first_page(scenario, LONGEST_WAIT)

    def lint(self, scenario: Scenario, task: str) -> Iterator[str]:
        """Yield lint warnings for single-page sites, and for pages that the agent cannot reload."""
        yield from spa_warnings(scenario, self.arm(scenario, task), "REAL's sites")
        if replaces_document(scenario) and not self.vocabulary.recover:
            yield (
                "no action of the agent's asks for a page again, so whatever page is hit stays"
                ' away and RR is 0 for any model; options.actions = ["chat", "bid", "infeas",'
                ' "nav"] gives it goto'
            )

    def endpoints(self, agent: AgentSpec) -> tuple[str, ...]:
        """Return the demo agent's hard-coded endpoint: its vendor's or OpenRouter's."""
        if agent.model.startswith(_BY_OPENROUTER):
            return (_OPENROUTER,)
        own = _own_address(agent)
        return (own,) if own is not None and _fits(agent.base_url, own) else ()

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError for an unknown agent file or model, or a need of the proxy."""
        known = (*_BY_OPENAI, *_BY_ANTHROPIC, _BY_OPENROUTER)
        if (own := self._own_file) is not None and not own.is_file():
            raise CampaignError(f"benchmark.options.agent: there is no file {own}")
        for agent in agents:
            if own is None and not agent.is_mock and not agent.model.startswith(known):
                raise CampaignError(
                    f"agent {agent.name!r}: REAL's demo agent takes models whose name begins with"
                    f" {', '.join(known)}, and {agent.model!r} does not; for your own server"
                    " call it gpt-… and give base_url"
                )
        if not direct:
            return
        for site in sorted({self._site(task)[0] for task in tasks} & self.table.sites.keys()):
            raise no_proxy_refused(served_elsewhere(f"the site {site}"))
        for agent in agents:
            if agent.model.startswith(_BY_OPENROUTER) and agent.base_url is not None:
                raise no_proxy_refused(
                    f"REAL always asks {_OPENROUTER} for {agent.model!r}, and only the proxy can"
                    " send that to base_url"
                )

    def findings(self) -> Iterator[Finding]:
        """Yield findings about its environment and the token tables."""
        try:
            tables = _tables(self.virtualenv())
        except (CampaignError, MachineError):
            return
        yield Finding(
            "tiktoken",
            "ok" if tables else "broken",
            f"token tables in {tables}"
            if tables
            else "each task first downloads token tables; run `warex benchmarks setup real`",
            needed=False,
        )

    def maps(self, task: str) -> tuple[str, ...]:
        """Return the site's map, if the table names a stand-in."""
        site, origin = self._site(task)
        return maps_of({origin: self.table.sites.get(site, origin)})

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return the driver's command that has REAL's harness do one task."""
        made, agent = self.virtualenv(), job.agent
        config: dict[str, Any] = {
            "model": agent.model,
            "task_name": job.task,
            "headless": True,
            "max_steps": agent.max_steps,
            "results_dir": str((job.folder / _RESULTS).absolute()),
            # A cached result would be an earlier one of this task.
            "use_cache": False,
            **self.options.model_dump(exclude={"version", "vocabulary"}, exclude_none=True),
        }
        if self.options.agent is not None:
            config["agent"] |= {"file": str(self._own_file)}
        if agent.observation is not None:
            config |= {f"use_{shown}": shown in agent.observation for shown in _SHOWN}
        variables = browsers_for(made, job.scratch / "browsers", job.browser, job.browser_arguments)
        variables |= {"TMPDIR": str(job.scratch), **_addresses(agent, proxied=job.proxied)}
        # A run id would submit the results to the leaderboard.
        variables["RUNID"] = ""
        if tables := _tables(made):
            variables["TIKTOKEN_CACHE_DIR"] = str(tables)
        command = self.driver_command("real_task.py", config, job.folder / _CONFIG)
        return Command(command, variables, job.scratch)

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Return the result in the harness's summary."""
        summaries = sorted(job.folder.glob(_SUMMARY))
        summary = read_json_or_empty(summaries[-1]) if summaries else {}
        if summary.get("experiment_status") != "completed":
            return no_result(code, f"the harness ended with code {code} before it wrote a result")
        if error := summary.get("err_msg"):
            return _failed(str(error), str(summary.get("stack_trace") or ""))
        reward = float(summary.get("cum_reward") or 0.0)
        answer = summary.get("agent_response") or None
        if summary.get("truncated"):
            return TaskResult("step_limit", 0.0, answer)
        judged = "env_state" in (summary.get("finish_state") or {})
        reasons = () if reward else (f"REAL's evaluation gave {reward:g}",)
        if not judged:
            # Without a message to the user the harness does not judge: the agent refused.
            return TaskResult("reported_infeasible", 0.0, answer, reasons)
        return TaskResult("answered", min(1.0, max(0.0, reward)), answer, reasons)

    @property
    def _own_file(self) -> Path | None:
        own = self.options.agent
        return None if own is None else self.table.path(own.file).absolute()

    @cached_property
    def _tasks(self) -> Mapping[str, Mapping[str, Any]]:
        version = self.options.version
        packages = self.virtualenv().site_packages
        folder = packages / f"agisdk/REAL/browsergym/webclones/{version}/tasks"
        files = sorted(folder.glob("*.json"), key=lambda path: _in_order(path.stem))
        try:
            tasks = {
                f"{version}.{path.stem}": json.loads(read_regular_file(path)) for path in files
            }
        except (OSError, ValueError) as error:
            raise MachineError(f"REAL's tasks in {folder} cannot be read: {error}") from None
        if not tasks:
            raise MachineError(
                f"there are no tasks of REAL's in {folder}; make the environment again with"
                " `warex benchmarks setup real`"
            )
        return tasks

    def _site(self, task: str) -> tuple[str, str]:
        """Return the name and the origin of a task's site."""
        if task not in self._tasks:
            where = f"REAL {self.options.version} has no task"
            raise CampaignError(unknown_name(where, task, tuple(self._tasks)))
        site = self._tasks[task]["website"]
        return str(site["id"]), origin_of(site["url"])


def _in_order(name: str) -> tuple[str, int]:
    site, _, number = name.rpartition("-")
    return site, int(number) if number.isdecimal() else 0


def _own_address(agent: AgentSpec) -> str | None:
    """Return the default endpoint of the client of an agent's model."""
    if agent.is_mock or agent.model.startswith(_BY_OPENAI):
        return _OPENAI
    return _ANTHROPIC if agent.model.startswith(_BY_ANTHROPIC) else None


def _fits(base_url: str | None, own: str) -> bool:
    """Return whether both addresses differ in the origin only."""
    return base_url is None or urlsplit(base_url).path.rstrip("/") == urlsplit(own).path


def _addresses(agent: AgentSpec, *, proxied: bool) -> dict[str, str]:
    """Return the variable of the client's base URL.

    If the proxy maps the model's host, it is the vendor's own.
    """
    if agent.base_url is None or agent.model.startswith(_BY_OPENROUTER):
        return {}
    own = _own_address(agent)
    name = "ANTHROPIC_BASE_URL" if own == _ANTHROPIC else "OPENAI_BASE_URL"
    mapped = proxied and own is not None and _fits(agent.base_url, own)
    return {name: own if own is not None and mapped else agent.base_url}


def _tables(made: Virtualenv) -> Path | None:
    folder = made.site_packages / _TABLES
    return folder if (folder / _TABLE).is_file() else None


def _failed(error: str, stack_trace: str) -> TaskResult:
    """Return the result of a task that ended with an exception.

    The harness writes three parts: a heading, the exception's class, its message.
    """
    _, _, rest = error.partition("\n")
    kind, _, words = (rest or error).partition("\n")
    kind, words = kind.rstrip(":"), " ".join(words.split())[:300]
    sentence = f"{kind}: {words}" if words else kind
    if any(words.startswith(start) for start in _UNJUDGED):
        return TaskResult(
            "harness_crashed", 0.0, void_reason=f"REAL could not judge the task: {sentence}"
        )
    if _MODEL_ERRORS.match(kind) and not _TOO_LONG.search(words):
        return TaskResult(
            "model_error", 0.0, void_reason=f"REAL's model cannot be used: {sentence}"
        )
    ending: Ending = "agent_crashed" if _BY_AGENT.search(stack_trace) else "harness_crashed"
    return TaskResult(ending, 0.0, reasons=(sentence,))
