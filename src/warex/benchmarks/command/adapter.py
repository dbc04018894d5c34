"""Any command that does one task: a command template and the place of its result."""

import json
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from warex.benchmarks.arming import arm_unknown_harness, spared_first_page
from warex.benchmarks.artifacts import (
    harness_crash,
    last_output,
    no_result,
    read_text_or_empty,
)
from warex.benchmarks.base import Benchmark, no_proxy_refused
from warex.benchmarks.command.options import (
    PLACEHOLDER,
    PLACEHOLDERS,
    CommandOptions,
    MinimumScore,
    ResultReader,
    TaskEntry,
    TaskFile,
    fill_placeholders,
)
from warex.benchmarks.command.task_file import read_tasks
from warex.benchmarks.file_server import require_site_folders, serve_sites
from warex.benchmarks.job import AgentSpec, Command, Job, TaskEnvironment, TaskResult
from warex.benchmarks.scoring.expectations import PRINTED, Expectation, judge, reset
from warex.benchmarks.scoring.json_path import resolve_path
from warex.benchmarks.scoring.user_commands import CommandLine, split_command
from warex.benchmarks.table import BenchmarkConfig
from warex.errors import CampaignError, TrialVoid
from warex.files.reading import read_text_file
from warex.llm.actions.vocabulary import Vocabulary
from warex.proxy.certificates.ca import CertificateAuthority
from warex.scenarios import Arm, Scenario
from warex.text.regex import Regex
from warex.traces import Ending, Trace
from warex.traces.paths import AGENT_LOG

TASKS_WANTED = (
    "Write what the command is to do: a text for each task, as"
    ' tasks = ["Tell the price of green tea."], or a file of them, as'
    ' tasks = { file = "tasks.jsonl", id = "id", text = "goal" }.'
)


class CommandBenchmark(Benchmark):
    """The user's own command, run once for each task."""

    name: ClassVar = "command"
    summary: ClassVar = "Any command that does one task: a template and the place of its result."
    vocabulary = Vocabulary(name="command")
    options_model: ClassVar = CommandOptions
    options: CommandOptions
    site_names: ClassVar = None
    # Any text file that an unknown harness leaves may contain its key.
    artifacts: ClassVar = tuple(
        f"**/*.{kind}" for kind in ("json", "jsonl", "txt", "log", "csv", "html", "md", "yaml")
    )
    setup_help: ClassVar = (
        "A command that does one task and ends. It is started once for each trial, by no shell,"
        " with the placeholders filled in: {task} its text, {task_id} its name, {out} a fresh"
        " folder that is kept, {scratch} one that is not, {model}, {base_url}, {seed},"
        " {max_steps}, {browser}, {observation}. expect says what is a success: a text, a regex,"
        " the url that the browser ends at, a check's exit code; reset is a command before each"
        " trial. Trials run one at a time, unless isolated = true."
    )
    arming_help: ClassVar = (
        "first_page_or_llm_call, whichever comes first, for answers with a page, held 25 s at most;"
        " otherwise first_llm_call, since an unknown harness may die of a first page that does not"
        " come; options.arm or the scenario's arm say otherwise"
    )
    starter_files: ClassVar = ("my_agent.py", "playbook.yaml", "site/index.html")

    def __init__(self, table: BenchmarkConfig | None = None) -> None:
        super().__init__(table)
        self.vocabulary = self.options.vocabulary
        self.isolated = self.options.isolated
        self.judge_user_agents = self.options.verifiers
        self.api_key_variables = self.options.keys
        self.variables = self.options.environment

    def tasks(self) -> tuple[str, ...]:
        """Return the tasks' names in the order of the list or file."""
        return tuple(self._tasks)

    @cached_property
    def _tasks(self) -> Mapping[str, TaskEntry]:
        tasks = self.options.tasks
        if isinstance(tasks, TaskFile):
            return read_tasks(tasks, self.table.path(tasks.file))
        entries = [TaskEntry(id=task) if isinstance(task, str) else task for task in tasks]
        names = [task.id for task in entries]
        if twice := {name for name in names if names.count(name) > 1}:
            raise CampaignError(f"benchmark.options.tasks: {min(twice)!r} is listed twice")
        if not entries:
            raise CampaignError(f"benchmark.options.tasks holds no task. {TASKS_WANTED}")
        return {task.id: task for task in entries}

    def _expect(self, task: str) -> Expectation | None:
        return self._tasks[task].expect or self.options.expect

    def _reset(self, task: str) -> CommandLine | None:
        return self._tasks[task].reset or self.options.reset

    def vocabulary_of(self, task: str) -> Vocabulary:
        """Return the task's own vocabulary, else the options'."""
        return self._tasks[task].vocabulary or self.vocabulary

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the table's sites; none means all."""
        return tuple(self.table.sites)

    def exclusions(self, task: str) -> tuple[str, ...]:
        """Return the table's globs."""
        return self.options.never

    def default_arm(self, scenario: Scenario, task: str) -> Arm:
        """Return the table's value, else by what the scenario's faults do to a first page."""
        return self.options.arm or arm_unknown_harness(scenario)

    def lint(self, scenario: Scenario, task: str) -> Iterator[str]:
        """Yield a lint warning for faults that wait for the agent's model by default."""
        chosen = scenario.arm or self.options.arm
        if chosen is None and self.arm(scenario, task) == "first_llm_call":
            yield from spared_first_page(scenario)

    def endpoints(self, agent: AgentSpec) -> tuple[str, ...]:
        """Return the table's hard-coded endpoints."""
        return self.options.endpoints

    def command_texts(self, task: str) -> Iterator[str]:
        """Yield the templates and the task's own text."""
        yield from self._templates()
        yield self._tasks[task].text or task

    def check(self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool) -> None:
        """Raise CampaignError for a missing program, folder or address."""
        options = self.options
        self._require_program("benchmark.options.command", options.arguments)
        cwd = options.cwd
        if cwd and not PLACEHOLDER.search(cwd) and not self.table.path(cwd).is_dir():
            raise CampaignError(f"benchmark.options.cwd: there is no folder {cwd!r}")
        if len(tasks) > 1 and not any("{task" in part for part in self._templates()):
            raise CampaignError(
                "benchmark.options.command names neither {task} nor {task_id}, so that it would do"
                f" the same for all {len(tasks)} tasks"
            )
        self._require_outside(tasks, direct=direct)
        wanted = any("{base_url}" in part for part in self._templates())
        for agent in agents:
            if wanted and agent.base_url is None and not agent.is_mock:
                raise CampaignError(
                    f"agent {agent.name!r} gives no base_url, which benchmark.options.command names"
                )
        require_site_folders(self.table)

    def require_keys(self, agents: Sequence[AgentSpec], environment: Mapping[str, str]) -> None:
        """Require none: the command itself knows how it reaches its model."""

    def _require_outside(self, tasks: Sequence[str], *, direct: bool) -> None:
        """Raise CampaignError for a missing score, an invalid command, or no proxy."""
        result = self.options.result
        for task in tasks:
            expect = self._expect(task)
            if expect is None and result is not None and not result.scores:
                raise CampaignError(
                    "benchmark.options.result names the answer alone, and nothing says when task"
                    f' {task!r} is solved: give expect, as expect = "4.50", or give result json, a'
                    " path to the value that is a success"
                )
            commands = {"reset": self._reset(task), "check": expect.check if expect else None}
            for what, command in commands.items():
                if command is not None:
                    where = f"benchmark.options: the {what} of task {task!r}"
                    self._require_program(where, split_command(command))
            if direct and expect is not None and expect.url is not None:
                raise no_proxy_refused(
                    f"task {task!r} expects a URL that the browser ends at, which only the proxy"
                    " sees",
                    other_remedy=", or expect something else",
                )

    def _require_program(self, where: str, parts: Sequence[str]) -> None:
        program = parts[0]
        if not PLACEHOLDER.search(program) and not shutil.which(self._program(program)):
            raise CampaignError(f"{where}: {program!r} is not a program that runs")

    def start_environment(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[TaskEnvironment]:
        """Run the reset command, serve the sites that are folders, and map all."""
        return self._served(task, folder)

    @contextmanager
    def _served(self, task: str, folder: Path) -> Iterator[TaskEnvironment]:
        if (command := self._reset(task)) is not None:
            reset(self._fill_placeholders(command, task, folder), self._cwd(task, folder))
        with serve_sites(self.table) as environment:
            yield environment

    def _check_site(self, site: str, target: str) -> None:
        # The target may be a folder, which require_site_folders checks.
        super()._check_site(site, target if "://" in target else site)

    def command(self, job: Job, environment: TaskEnvironment) -> Command:
        """Return the template filled in."""
        values = self._values(job.task, job.folder) | {
            "scratch": str(job.scratch),
            "model": job.agent.model,
            "base_url": job.agent.base_url or "",
            "seed": str(job.seed),
            "max_steps": str(job.agent.max_steps),
            "browser": str(job.browser),
            "observation": ",".join(job.agent.observation or ()),
        }
        options = self.options
        program, *rest = (fill_placeholders(part, values) for part in options.arguments)
        return Command(
            [self._program(program), *rest],
            {name: fill_placeholders(text, values) for name, text in options.environment.items()},
            self.table.path(fill_placeholders(options.cwd, values)) if options.cwd else None,
        )

    def read(self, job: Job, environment: TaskEnvironment, code: int | None) -> TaskResult:
        """Return the result in the file, or by the exit code if no file is named."""
        options, expect = self.options, self._expect(job.task)
        log = job.folder / AGENT_LOG
        ending: Ending = "time_limit" if code is None else "answered"
        if options.result is None and expect is None:
            if code not in (0, 1, None):
                return harness_crash(f"it ended with code {code}{last_output(log)}")
            return TaskResult(ending, float(code == 0))
        if code is not None and code not in options.codes:
            return harness_crash(f"it ended with code {code}{last_output(log)}")
        if options.result is None:
            return TaskResult(ending, 0.0)
        path = job.folder / fill_placeholders(
            options.result.file, self._values(job.task, job.folder)
        )
        try:
            value, answer = _value_of(options.result, read_text_file(path, "replace"))
        except (OSError, ValueError, LookupError) as error:
            if isinstance(error, FileNotFoundError):
                output = last_output(log)
                return no_result(code, f"it ended with code {code} and left no {path.name}{output}")
            return no_result(code, f"its result {path.name} cannot be read: {error}")
        if expect is None:
            return TaskResult(ending, _score(value, options.success), answer)
        return TaskResult(ending, 0.0, answer if options.result.answer else _as_text(value))

    def score_after_trial(self, job: Job, result: TaskResult, trace: Trace | None) -> TaskResult:
        """Score by ``expect``, after the trial's processes have ended."""
        expect = self._expect(job.task)
        if expect is None or result.ending == "harness_crashed":
            return result

        def answer() -> str:
            named = self.options.result is not None
            return (result.answer or "") if named else read_text_or_empty(job.folder / AGENT_LOG)

        verdict = judge(
            expect,
            answer=answer,
            trace=trace,
            command=lambda command: self._fill_placeholders(command, job.task, job.folder),
            cwd=self._cwd(job.task, job.folder),
            verifiers=self.judge_user_agents,
            answer_is="the answer" if self.options.result else PRINTED,
        )
        return replace(result, score=float(verdict.solved), reasons=verdict.reasons)

    def _check_observation(self, agent: AgentSpec) -> None:
        if agent.observation and not any("{observation}" in part for part in self._templates()):
            raise CampaignError(
                f"agent {agent.name!r} gives an observation, which benchmark.options.command does"
                " not name: write {observation} there, or leave the key out"
            )

    def _fill_placeholders(self, command: CommandLine, task: str, folder: Path) -> Sequence[str]:
        """Return a reset or check command with its placeholders filled in."""
        values = self._values(task, folder)
        program, *rest = (fill_placeholders(part, values) for part in split_command(command))
        return (self._program(program), *rest)

    def _cwd(self, task: str, folder: Path) -> Path | None:
        """Return the working directory of a reset or check command, if the table names one."""
        cwd = self.options.cwd
        if cwd is None:
            return None
        path = self.table.path(fill_placeholders(cwd, self._values(task, folder)))
        return path if path.is_dir() else None

    def _values(self, task: str, folder: Path) -> dict[str, str]:
        text = self._tasks[task].text or task
        named = {"task": text, "task_id": task, "out": str(folder.absolute())}
        return dict.fromkeys(PLACEHOLDERS, "") | named

    def _program(self, program: str) -> str:
        """Return a program; one with a slash is relative to the campaign's folder."""
        return str(self.table.path(program)) if "/" in program else program

    def _templates(self) -> Sequence[str]:
        options = self.options
        return (*options.arguments, *options.environment.values(), options.cwd or "")


def _value_of(reader: ResultReader, text: str) -> tuple[Any, str | None]:
    if reader.regex is not None:
        pattern = Regex(reader.regex, multiline=True)
        if not pattern.groups:
            return pattern.matches(text), None
        match = pattern.last_match(text)
        return (match.groups[0] if match else None), None
    data = json.loads(text)
    answer = resolve_path(data, reader.answer) if reader.answer else None
    value = resolve_path(data, reader.json_path) if reader.json_path else None
    return value, None if answer is None else _as_text(answer)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _score(value: Any, success: bool | float | str | MinimumScore | None) -> float:
    """Return 1 or 0, or the value itself if it is a score; 0 for no value."""
    if value is None:
        return 0.0
    if isinstance(success, MinimumScore):
        return float(_number(value) >= success.at_least)
    if isinstance(success, bool | str):
        return float(str(value).strip().lower() == str(success).lower())
    if success is not None:
        return float(_number(value) == success)
    word = str(value).strip().lower()
    if word in ("true", "false"):
        return float(word == "true")
    return min(max(_number(value), 0.0), 1.0)


def _number(value: Any) -> float:
    try:
        number = float(value or 0.0)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number):
        raise TrialVoid(
            f"the result is {value!r}, which is not a number and neither true nor false; say in"
            " benchmark.options.success which value is a success"
        )
    return number
