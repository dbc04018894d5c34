"""browser-use: an agent library; the tasks come from the testbed or a file.

A script in browser-use's own environment runs its agent on one task with the library's defaults.
Telemetry, cloud, version check and extensions are off, since they contact other sites.
"""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, Field, JsonValue, PlainValidator, StringConstraints, model_validator

from warex.benchmarks.adapters.testbed import TestbedBenchmark, require_testbed
from warex.benchmarks.artifacts import harness_crash, read_json_or_empty
from warex.benchmarks.base import Benchmark
from warex.benchmarks.installation.recipe import Install, Recipe
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult
from warex.benchmarks.table import BenchmarkConfig, Text
from warex.benchmarks.task_file import NamedTask, read_task_file
from warex.errors import CampaignError
from warex.extras import documentation
from warex.llm.actions.vocabulary import Vocabulary
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Arm, Scenario
from warex.scenarios.mistakes import unknown_name
from warex.traces import Ending
from warex.traces.paths import AGENT_LOG
from warex.traffic import origin_of

_CONFIG = "job.json"
_RESULT = "result.json"

_TRIED = "tried"
_OURS = ("task", "llm", "browser", "browser_profile", "browser_session", "initial_actions")
"""Arguments of ``Agent`` that the script sets."""

_CHECK = """
import json
from importlib.metadata import version
from browser_use import Agent, BrowserProfile
from browser_use.llm import ChatOpenAI
versions = {name: version(name) for name in ("browser-use", "cdp-use", "openai")}
print(json.dumps({"versions": versions}))
"""

QUIET = {
    "ANONYMIZED_TELEMETRY": "false",
    "BROWSER_USE_CLOUD_SYNC": "false",
    "BROWSER_USE_VERSION_CHECK": "false",
    "BROWSER_USE_DISABLE_EXTENSIONS": "1",
}

type Api = Literal["openai", "anthropic", "google"]
"""The API of the model's provider."""
_CLIENTS: Mapping[Api, tuple[str, str]] = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "google": ("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
}
"""Each client's variables for its key and its base URL."""


def _answer_check(value: object) -> Any:
    """Return the testbed's AnswerCheck, None for None; the testbed may not be installed."""
    if value is None:
        return None
    require_testbed()
    from warex_testbed.tasks import AnswerCheck

    return AnswerCheck.model_validate(value)


class CustomTask(NamedTask, frozen=True, extra="forbid"):
    """One line of a task file."""

    goal: Text
    url: Annotated[str, StringConstraints(pattern=r"^https?://[^/\s]+\S*$")]
    expect: Annotated[Any, PlainValidator(_answer_check)] = None
    """What the answer must contain; None: browser-use's own judge decides."""

    @model_validator(mode="before")
    @classmethod
    def _words_alone(cls, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(value.get("expect"), str | list):
            words = value["expect"]
            contains = [words] if isinstance(words, str) else words
            return value | {"expect": {"contains": contains}}
        return value


class BrowserUseOptions(BaseModel, frozen=True, extra="forbid"):
    """Options of the adapter."""

    tasks: Text | None = Field(
        default=None,
        description="A JSONL file of tasks: id, goal, url and, for the answer, expect; left out,"
        " the testbed's.",
    )
    api: Api = Field(
        default="openai",
        description="How the model is asked: by browser-use's ChatOpenAI, ChatAnthropic or"
        " ChatGoogle.",
    )
    agent: dict[str, JsonValue] = Field(
        default_factory=dict, description="Other arguments of Agent(…): use_vision, use_judge …"
    )

    @model_validator(mode="after")
    def _keeps_ours(self) -> "BrowserUseOptions":
        if taken := [key for key in self.agent if key in _OURS]:
            raise ValueError(f"agent.{taken[0]} is the adapter's own; leave it out")
        return self


class BrowserUseBenchmark(Benchmark):
    """browser-use on the testbed's tasks, or on a task file."""

    name: ClassVar = "browser-use"
    summary: ClassVar = "browser-use, on the testbed's tasks or on your own file."
    # It has no reload action; navigating to the same address is the nearest.
    vocabulary = Vocabulary(
        name="browser-use",
        navigate=("navigate", "search", "go_back", "click", "send_keys", "evaluate", "switch"),
        recover=("navigate", "go_back"),
        finish=("done",),
        noop=("wait",),
        other=(
            *("input", "scroll", "close", "upload_file", "extract", "search_page"),
            *("find_elements", "find_text", "screenshot", "save_as_pdf", "dropdown_options"),
            *("select_dropdown", "write_file", "replace_file", "read_file"),
        ),
    )
    artifacts: ClassVar = (_CONFIG, _RESULT)
    options_model: ClassVar = BrowserUseOptions
    options: BrowserUseOptions
    site_names: ClassVar = None
    api_key_variables = ("OPENAI_API_KEY",)
    base_url_variable = "OPENAI_BASE_URL"
    recipe: ClassVar = Recipe(
        pythons=("3.13", "3.12", "3.11"),
        pins="pins/browser-use.txt",
        installs=(Install(("browser-use",)),),
        # Importing it makes folders for settings and downloads.
        folders=(_TRIED,),
        check=_CHECK,
        variables={
            "TMPDIR": f"{{dir}}/{_TRIED}",
            "BROWSER_USE_CONFIG_DIR": f"{{dir}}/{_TRIED}",
            **QUIET,
        },
    )
    setup_help: ClassVar = (
        "Its own environment (`warex benchmarks setup browser-use --dir DIR`) and a model that"
        " speaks OpenAI's chat completions, or with `options.api` Anthropic's or Google's API."
        " Tasks are the testbed's, judged by its checks, or those of `options.tasks`, a JSONL file:"
        " {id, goal, url, expect}. By its default browser-use has its model judge each run at the"
        " end: one more call, which counts, and which `options.agent = { use_judge = false }` takes"
        " away."
    )
    arming_help: ClassVar = (
        "first_page: it opens the first page before its first step, and shows its model whatever"
        " came of it"
    )

    def __init__(self, table: BenchmarkConfig | None = None) -> None:
        super().__init__(table)
        key, self.base_url_variable = _CLIENTS[self.options.api]
        self.api_key_variables = (key,)
        if self.options.tasks is None and self.table.sites:
            raise CampaignError(
                "benchmark.sites: the testbed's sites are brought up for each trial; the key goes"
                " with options.tasks"
            )

    def tasks(self) -> tuple[str, ...]:
        """Return the names of the file's tasks, or of the testbed's."""
        return self._testbed.tasks() if self._file_tasks is None else tuple(self._file_tasks)

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the origin of the task's first page, and the table's sites."""
        if self._file_tasks is None:
            return self._testbed.sites(task)
        return tuple(dict.fromkeys((origin_of(self._task(task).url), *self.table.sites)))

    def exclusions(self, task: str) -> tuple[str, ...]:
        """Return the hosts of the image that its browser shows before the first page."""
        return ("https://cf.browser-use.com/*", "https://api.browser-use.com/*")

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        """Return ``first_page``: no fault on a page ends it."""
        return "first_page"

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError if ``api`` does not fit an embedded model."""
        embedded = [agent.model for agent in agents if agent.is_mock]
        if embedded and self.options.api != "openai":
            raise CampaignError(
                f"benchmark.options.api is {self.options.api!r}, but {embedded[0]} speaks OpenAI's"
                " chat completions alone; leave the key out"
            )

    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[TaskEnvironment]:
        """Start the testbed's sites; for a task file, return the table's maps."""
        if self._file_tasks is None:
            return self._testbed.start_environment(task, folder, ca, direct=direct)
        return super().start_environment(task, folder, ca, direct=direct)

    def shared_environment(self) -> AbstractContextManager[None]:
        """Keep the testbed's sites running between trials."""
        return self._testbed.shared_environment() if self._file_tasks is None else nullcontext()

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return the script that runs browser-use on the task."""
        task = self._task(job.task)
        config = {
            "task": f"{task.goal}\nThe website is {task.url}",
            "url": task.url,
            "api": self.options.api,
            "model": job.agent.model,
            "base_url": job.agent.base_url,
            "max_steps": job.agent.max_steps,
            "agent": self.options.agent,
            "browser": str(job.browser),
            "browser_arguments": list(job.browser_arguments),
            "result": str((job.folder / _RESULT).absolute()),
        }
        # Profile, downloads and screenshots go to the temporary folder.
        own = {"TMPDIR": str(job.scratch), "BROWSER_USE_CONFIG_DIR": str(job.scratch / "config")}
        command = self.driver_command("browser_use_task.py", config, job.folder / _CONFIG)
        return Command(command, QUIET | own, job.scratch)

    def was_visited(self, environment: TaskEnvironment) -> bool | None:
        """Return whether any request came to the testbed's sites; unknown for others."""
        return self._testbed.was_visited(environment) if self._file_tasks is None else None

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Score the result in browser-use's history."""
        outcome = read_json_or_empty(job.folder / _RESULT)
        if not outcome and code is None:
            return self._judged("time_limit", None, {}, job.task, environment)
        if not outcome:
            return harness_crash(f"its script ended with code {code}; {AGENT_LOG} says why")
        errors = outcome.get("errors") or ["its log says why"]
        if not outcome.get("llm_calls"):
            return TaskResult(
                "model_error", 0.0, void_reason=f"browser-use's model never answered: {errors[-1]}"
            )
        ending: Ending = "agent_crashed"
        if outcome.get("done"):
            ending = "answered" if outcome.get("success") else "reported_infeasible"
        elif outcome.get("out_of_steps"):
            ending = "step_limit"
        answer = outcome.get("answer") if ending == "answered" else None
        result = self._judged(ending, answer, outcome, job.task, environment)
        if ending == "agent_crashed":
            reasons = (f"browser-use gave up: {errors[-1]}", *result.reasons)
            return TaskResult(ending, result.score, result.answer, reasons)
        return result

    def _judged(
        self,
        ending: Ending,
        answer: str | None,
        outcome: Mapping[str, Any],
        task: str,
        environment: TaskEnvironment,
    ) -> TaskResult:
        """Score by the task's own check, else by browser-use's judge."""
        if self._file_tasks is None:
            verdict = self._testbed.judge(task, environment, answer)
            return TaskResult(ending, verdict.score, answer, verdict.reasons)
        expect = self._task(task).expect
        if expect is not None:
            complaints = tuple(expect.complaints(answer))
            return TaskResult(ending, float(not complaints), answer, complaints)
        judgement = outcome.get("judgement") or {}
        if judgement.get("verdict") is False:
            why = judgement.get("failure_reason") or judgement.get("reasoning") or "no reason given"
            return TaskResult(ending, 0.0, answer, (f"browser-use's judge: {why}",))
        return TaskResult(ending, float(ending == "answered"), answer)

    def _task(self, name: str) -> CustomTask:
        if self._file_tasks is None:
            task = self._testbed.task(name)
            return CustomTask(id=task.name, goal=task.goal, url=task.start_url())
        if name not in self._file_tasks:
            where = f"{self.options.tasks} has no task"
            raise CampaignError(unknown_name(where, name, tuple(self._file_tasks)))
        return self._file_tasks[name]

    @cached_property
    def _testbed(self) -> TestbedBenchmark:
        return TestbedBenchmark()

    @cached_property
    def _file_tasks(self) -> Mapping[str, CustomTask] | None:
        """The tasks of the file, if one is given."""
        if self.options.tasks is None:
            return None
        wanted = (
            "it has no line but blank ones; write a task on each"
            f" ({documentation('how-to/benchmarks/browser-use')})"
        )
        path = self.table.path(self.options.tasks)
        where = f"benchmark.options.tasks: {path}"
        return read_task_file(path, where, ".jsonl", CustomTask, wanted)
