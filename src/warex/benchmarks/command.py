"""Any command that does one task: a template, and where its result is to be read."""

import json
import math
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self, cast

from pydantic import BaseModel, Field, StringConstraints, field_validator, model_validator

from warex.benchmarks.base import AGENT_LOG, AgentSpec, Benchmark, Command, Job, Result, Stage
from warex.benchmarks.json_path import look_up, steps_of
from warex.benchmarks.records import crashed
from warex.benchmarks.table import BenchmarkTable
from warex.errors import CampaignError, TrialVoid
from warex.files import read_words
from warex.llm.actions import Vocabulary
from warex.proxy.ca import CertificateAuthority
from warex.regex import Regex
from warex.scenarios import Arm, Scenario
from warex.scenarios.mistakes import not_among
from warex.traces import Ending

PLACEHOLDERS = (
    *("task", "task_id", "out", "scratch", "model", "base_url", "seed", "max_steps", "browser"),
)
"""What a template may name, each in curly brackets; doubled brackets stand for themselves."""

_KNOWN_AFTERWARDS = ("task", "task_id", "out")

_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{(\w+)\}")

type Text = Annotated[str, StringConstraints(min_length=1)]


def _checked(template: str) -> str:
    for _, name in _PLACEHOLDER.findall(template):
        if name and name not in PLACEHOLDERS:
            raise ValueError(not_among("there is no placeholder", name, PLACEHOLDERS))
    return template


def _passed_on(text: str) -> str:
    if "\0" in text:
        raise ValueError(f"{text!r} holds a zero byte, which no program can be given")
    return text


def _filled(template: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(
        lambda found: f"{{{found[1]}}}" if found[1] else values[found[2]], template
    )


class TaskFile(BaseModel, frozen=True, extra="forbid"):
    """Where the tasks stand: JSON, JSONL, or a line each."""

    file: Text
    id: Text = Field(default="id", description="Path to a task's name, in JSON.")
    text: Text | None = Field(default=None, description="Path to its text; else its name.")

    @field_validator("id", "text")
    @classmethod
    def _is_a_path(cls, path: str | None) -> str | None:
        if path is not None:
            steps_of(path)
        return path


class AtLeast(BaseModel, frozen=True, extra="forbid"):
    """A number from which on a task is solved."""

    at_least: float


class ResultReader(BaseModel, frozen=True, extra="forbid"):
    """Where the command's own result stands: a JSON file's path, or a pattern in a text."""

    file: Text = Field(default=AGENT_LOG, description="Left out: what the command printed.")
    json_path: Text | None = Field(default=None, alias="json", description="Path into JSON.")
    regex: Text | None = Field(default=None, description="Its last match counts; group 1, if any.")
    answer: Text | None = Field(default=None, description="Path to the agent's answer.")

    @field_validator("file")
    @classmethod
    def _is_fresh(cls, file: str) -> str:
        for _, name in _PLACEHOLDER.findall(_checked(file)):
            if name not in ("", *_KNOWN_AFTERWARDS):
                raise ValueError(f"{{{name}}} is not known when the result is read; name {{out}}")
        within = Path(file.removeprefix("{out}/"))
        if within.is_absolute() or ".." in within.parts:
            raise ValueError(
                f"{file!r} must lie in {{out}}, which is new for each trial: elsewhere an old"
                " result would be taken for this one"
            )
        return file

    @field_validator("json_path", "answer")
    @classmethod
    def _is_a_path(cls, path: str | None) -> str | None:
        if path is not None:
            steps_of(path)
        return path

    @field_validator("regex")
    @classmethod
    def _compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            Regex(pattern, multiline=True)
        return pattern

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if (self.json_path is None) == (self.regex is None):
            raise ValueError("give either json, a path, or regex, a pattern")
        if self.answer is not None and self.json_path is None:
            raise ValueError("answer is a path into JSON and goes with json")
        return self


class Words(Vocabulary, frozen=True, extra="forbid"):
    """The agent's actions, list by list."""

    name: str = "command"


class CommandOptions(BaseModel, frozen=True, extra="forbid"):
    """What the adapter must be told of a command."""

    command: Text | tuple[Text, ...] = Field(description="Split as a shell would, but by no shell.")
    tasks: tuple[Text, ...] | TaskFile = Field(description="Names, or a file of them.")
    result: ResultReader | None = Field(
        default=None, description="Left out: exit code 0 is solved, 1 is not, others are a crash."
    )
    success: bool | float | str | AtLeast | None = Field(
        default=None, description="The value that is a success; left out: true, or the score."
    )
    codes: tuple[int, ...] = Field(default=(0,), description="Exit codes that are no crash.")
    never: tuple[Text, ...] = Field(default=(), description="URL globs left alone.")
    verifiers: tuple[Text, ...] = Field(
        default=(), description="How the User-Agent of what judges begins: left alone."
    )
    endpoints: tuple[Annotated[str, StringConstraints(pattern=r"^https?://\S+$")], ...] = Field(
        default=(), description="Base URLs of models that it calls whatever it is told."
    )
    keys: tuple[Text, ...] = Field(
        default=("OPENAI_API_KEY",), description="API keys to give a placeholder if not set."
    )
    vocabulary: Words = Words()
    arm: Arm = Field(default="first_llm_call", description="Where the scenario does not say.")
    cwd: Text | None = Field(default=None, description="Working directory.")
    environment: dict[str, str] = Field(default_factory=dict, description="Variables to set.")

    @field_validator("command")
    @classmethod
    def _has_known_placeholders(cls, command: str | tuple[str, ...]) -> str | tuple[str, ...]:
        try:
            parts = shlex.split(command) if isinstance(command, str) else command
        except ValueError as error:
            raise ValueError(f"{command!r} cannot be split as a shell would: {error}") from None
        if not parts:
            raise ValueError("the command is empty; begin with a program")
        for part in parts:
            _passed_on(_checked(part))
        return command

    @field_validator("cwd")
    @classmethod
    def _known_in_cwd(cls, cwd: str | None) -> str | None:
        return None if cwd is None else _checked(cwd)

    @field_validator("environment")
    @classmethod
    def _known_in_environment(cls, variables: dict[str, str]) -> dict[str, str]:
        for name, value in variables.items():
            if not name or "=" in name or "\0" in name:
                raise ValueError(f"{name!r} is no name of a variable")
            _passed_on(_checked(value))
        return variables

    @field_validator("never")
    @classmethod
    def _can_match(cls, globs: tuple[str, ...]) -> tuple[str, ...]:
        for glob in globs:
            if not glob.startswith("*") and "://" not in glob:
                raise ValueError(f"{glob!r} matches no URL; write https://… or begin with *")
        return globs

    @property
    def arguments(self) -> Sequence[str]:
        """The command's parts, unfilled."""
        return shlex.split(self.command) if isinstance(self.command, str) else self.command


class CommandBenchmark(Benchmark):
    """Whatever does one task by one command."""

    name: ClassVar = "command"
    summary: ClassVar = "Any command that does one task: a template and where its result stands."
    vocabulary = Vocabulary(name="command")
    options_model: ClassVar = CommandOptions
    site_names: ClassVar = None
    # What a harness of anybody's leaves may hold its key, whatever the file is called.
    records: ClassVar = tuple(
        f"**/*.{kind}" for kind in ("json", "jsonl", "txt", "log", "csv", "html", "md", "yaml")
    )
    guide: ClassVar = (
        "A command that does one task and ends. It is started once for each trial, by no shell,"
        " with the placeholders filled in: {task} its text, {task_id} its name, {out} a fresh"
        " folder that is kept, {scratch} one that is not, {model}, {base_url}, {seed},"
        " {max_steps}, {browser}."
    )
    arming: ClassVar = (
        "first_llm_call, since an unknown harness may die of a fault in its own set-up; options.arm"
        " or the scenario's arm say otherwise"
    )
    example: ClassVar = """\
name = "my-agent"
timeout_s = 300
[benchmark]
name = "command"
sites = ["https://shop.example"]
[benchmark.options]
command = "python my_agent.py --goal '{task}' --model {model} --out {out}/result.json"
tasks = { file = "tasks.jsonl", id = "id", text = "goal" }
result = { file = "{out}/result.json", json = "success" }
vocabulary = { navigate = ["click", "goto"], recover = ["goto"], finish = ["stop"] }
[[agents]]
name = "mine"
model = "gpt-4o-mini"
[[conditions]]
name = "clean"
[[conditions]]
name = "server-error"
scenario = "paper/server-error"
"""

    def __init__(self, table: BenchmarkTable | None = None) -> None:
        super().__init__(table)
        self._options_given = cast(CommandOptions, self.options)
        self.vocabulary = self._options_given.vocabulary
        self.verifiers = self._options_given.verifiers
        self.key_variables = self._options_given.keys
        self.variables = self._options_given.environment

    def tasks(self) -> tuple[str, ...]:
        """Return the tasks' names, in the order of the list or file."""
        return tuple(self._texts)

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        tasks = self._options_given.tasks
        if isinstance(tasks, TaskFile):
            return dict(_read_tasks(tasks, self.table.path(tasks.file)))
        if twice := {name for name in tasks if tasks.count(name) > 1}:
            raise CampaignError(f"benchmark.options.tasks: {min(twice)!r} stands there twice")
        if not tasks:
            raise CampaignError("benchmark.options.tasks holds no task")
        return {name: name for name in tasks}

    def sites(self, task: str) -> tuple[str, ...]:
        """Return the table's sites; none stand for everything."""
        return tuple(self.table.sites)

    def never(self, task: str) -> tuple[str, ...]:
        """Return the globs that the table names."""
        return self._options_given.never

    def arm(self, scenario: Scenario, task: str) -> Arm:
        """Return what the scenario says, else the table."""
        return scenario.arm or self._options_given.arm

    def endpoints(self, agent: AgentSpec) -> tuple[str, ...]:
        """Return what the table says is hard-coded."""
        return self._options_given.endpoints

    def ready(
        self, tasks: Sequence[str], agents: Sequence[AgentSpec], *, direct: bool = False
    ) -> None:
        """Raise CampaignError for a program, a folder or an address that is not there."""
        super().ready(tasks, agents, direct=direct)
        options = self._options_given
        program = options.arguments[0]
        if not _PLACEHOLDER.search(program) and shutil.which(self._program(program)) is None:
            raise CampaignError(f"benchmark.options.command: {program!r} is no program that runs")
        cwd = options.cwd
        if cwd and not _PLACEHOLDER.search(cwd) and not self.table.path(cwd).is_dir():
            raise CampaignError(f"benchmark.options.cwd: there is no folder {cwd!r}")
        if len(tasks) > 1 and not any("{task" in part for part in self._templates()):
            raise CampaignError(
                "benchmark.options.command names neither {task} nor {task_id}, so that it would do"
                f" the same for all {len(tasks)} tasks"
            )
        wanted = any("{base_url}" in part for part in self._templates())
        for agent in agents:
            if wanted and agent.base_url is None and not agent.embedded:
                raise CampaignError(
                    f"agent {agent.name!r} gives no base_url, which benchmark.options.command names"
                )
        if direct and (mapped := [s for s, target in self.table.sites.items() if s != target]):
            raise CampaignError(
                f"condition 'no-proxy': {mapped[0]} is served from elsewhere, which only the proxy"
                " can do; leave the condition out"
            )

    def require_keys(self, agents: Sequence[AgentSpec], environment: Mapping[str, str]) -> None:
        """Require none: how a command comes to its model is its own matter."""

    def stage(
        self, task: str, folder: Path, ca: CertificateAuthority, *, direct: bool
    ) -> AbstractContextManager[Stage]:
        """Return the sites' maps: what runs there is the user's."""
        sites = self.table.sites.items()
        return nullcontext(Stage(tuple(f"{s}={target}" for s, target in sites if s != target)))

    def command(self, job: Job, stage: Stage) -> Command:
        """Return the template filled in."""
        values = self._values(job.task, job.folder) | {
            "scratch": str(job.scratch),
            "model": job.agent.model,
            "base_url": job.agent.base_url or "",
            "seed": str(job.seed),
            "max_steps": str(job.agent.max_steps),
            "browser": str(job.browser),
        }
        options = self._options_given
        program, *rest = (_filled(part, values) for part in options.arguments)
        return Command(
            [self._program(program), *rest],
            {name: _filled(text, values) for name, text in options.environment.items()},
            self.table.path(_filled(options.cwd, values)) if options.cwd else None,
        )

    def read(self, task: str, stage: Stage, folder: Path, code: int | None) -> Result:
        """Return what the result's place says, or the exit code where none is named."""
        options = self._options_given
        ending: Ending = "time_limit" if code is None else "answered"
        if options.result is None:
            if code not in (0, 1, None):
                return crashed(f"it ended with code {code}")
            return Result(ending, float(code == 0))
        if code is not None and code not in options.codes:
            return crashed(f"it ended with code {code}")
        path = folder / _filled(options.result.file, self._values(task, folder))
        try:
            text = read_words(path, "replace")
            value, answer = _value_of(options.result, text)
        except FileNotFoundError:
            if code is None:
                return Result("time_limit", 0.0)
            return crashed(f"it ended with code {code} and left no {path.name}")
        except (OSError, ValueError, LookupError) as error:
            if code is None:
                return Result("time_limit", 0.0)
            return crashed(f"its result {path.name} cannot be read: {error}")
        return Result(ending, _score(value, options.success), answer)

    def _values(self, task: str, folder: Path) -> dict[str, str]:
        named = {"task": self._texts[task], "task_id": task, "out": str(folder.absolute())}
        return dict.fromkeys(PLACEHOLDERS, "") | named

    def _program(self, program: str) -> str:
        """Return a program that the table names with a folder as lying beside the campaign."""
        return str(self.table.path(program)) if "/" in program else program

    def _templates(self) -> Sequence[str]:
        options = self._options_given
        return (*options.arguments, *options.environment.values(), options.cwd or "")


def _read_tasks(tasks: TaskFile, path: Path) -> Iterator[tuple[str, str]]:
    """Yield names and texts; raise CampaignError for what is no file of tasks."""
    where = f"benchmark.options.tasks: {path}"
    try:
        text = read_words(path)
    except (OSError, UnicodeDecodeError) as error:
        raise CampaignError(f"{where} cannot be read: {error}") from None
    seen: set[str] = set()
    for place, item in _items(path, text, where):
        if isinstance(item, str):
            name = said = item
        else:
            try:
                name = str(look_up(item, tasks.id))
                said = str(look_up(item, tasks.text)) if tasks.text else name
            except LookupError as error:
                raise CampaignError(f"{where}, {place}: {error}") from None
        if name in seen:
            raise CampaignError(f"{where}, {place}: the task {name!r} stands there twice")
        seen.add(name)
        yield name, said
    if not seen:
        raise CampaignError(f"{where} holds no task")


def _items(path: Path, text: str, where: str) -> Iterator[tuple[str, Any]]:
    try:
        if path.suffix == ".json":
            data = json.loads(text)
            if isinstance(data, dict):
                data = [
                    {"id": key, **item} if isinstance(item, dict) else key
                    for key, item in data.items()
                ]
            yield from ((f"task {number}", item) for number, item in enumerate(data, 1))
            return
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                item = json.loads(line) if path.suffix == ".jsonl" else line.strip()
                yield f"line {number}", item
    except (ValueError, TypeError) as error:
        raise CampaignError(f"{where} is no list of tasks: {error}") from None


def _value_of(reader: ResultReader, text: str) -> tuple[Any, str | None]:
    if reader.regex is not None:
        pattern = Regex(reader.regex, multiline=True)
        if not pattern.groups:
            return pattern.finds(text), None
        found = pattern.last(text)
        return (found.groups[0] if found else None), None
    data = json.loads(text)
    answer = look_up(data, reader.answer) if reader.answer else None
    return look_up(data, cast(str, reader.json_path)), None if answer is None else str(answer)


def _score(value: Any, success: bool | float | str | AtLeast | None) -> float:
    """Return 1 or 0, or the value itself where it is a score; no value is no success."""
    if value is None:
        return 0.0
    if isinstance(success, AtLeast):
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
            f"the result is {value!r}, which is no number and neither true nor false; say in"
            " benchmark.options.success which value is a success"
        )
    return number
