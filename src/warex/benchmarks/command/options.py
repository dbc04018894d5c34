"""Options of the benchmark ``command``: a command template, tasks, and what is a success."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from warex.benchmarks.scoring.expectations import Expectation, Pattern, UrlGlob
from warex.benchmarks.scoring.json_path import JsonPath
from warex.benchmarks.scoring.user_commands import CommandLine, split_command
from warex.benchmarks.table import Text
from warex.benchmarks.task_file import NamedTask, check_name
from warex.benchmarks.vocabularies import VocabularyConfig
from warex.scenarios import Arm
from warex.scenarios.mistakes import unknown_name
from warex.traces.paths import AGENT_LOG

_SCORING = ("task", "task_id", "out")
"""Placeholders of reset and check commands and of the result's file, too."""

_AGENT = ("scratch", "model", "base_url", "seed", "max_steps", "browser", "observation")

PLACEHOLDERS = (*_SCORING, *_AGENT)
"""Placeholders of a template, each in curly brackets; doubled brackets escape them."""

_NOT_HERE = "is the agent's own; here {task}, {task_id} and {out} are known"

PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{(\w+)\}")


def _check_template(template: str, *, not_here: str = "") -> str:
    """Check the placeholders; ``not_here`` refuses the agent's own."""
    for _, name in PLACEHOLDER.findall(template):
        if name and name not in PLACEHOLDERS:
            raise ValueError(unknown_name("there is no placeholder", name, PLACEHOLDERS))
        if name in _AGENT and not_here:
            raise ValueError(f"{{{name}}} {not_here}")
    return template


def _check_agent_command(command: CommandLine) -> CommandLine:
    for part in split_command(command):
        _check_template(part)
    return command


def _check_scoring_command(command: CommandLine) -> CommandLine:
    for part in split_command(command):
        _check_template(part, not_here=_NOT_HERE)
    return command


def _check_expectation(expect: Expectation) -> Expectation:
    if expect.check is not None:
        _check_scoring_command(expect.check)
    return expect


type _Template = Annotated[Text, AfterValidator(_check_template)]
type _AgentCommand = Annotated[CommandLine, AfterValidator(_check_agent_command)]
type _ScoringCommand = Annotated[CommandLine, AfterValidator(_check_scoring_command)]
type _Expectation = Annotated[Expectation, AfterValidator(_check_expectation)]


def fill_placeholders(template: str, values: Mapping[str, str]) -> str:
    """Return a template with its placeholders filled in."""
    return PLACEHOLDER.sub(
        lambda match: f"{{{match[1]}}}" if match[1] else values[match[2]], template
    )


class TaskFile(BaseModel, frozen=True, extra="forbid"):
    """A file of tasks: JSON, JSONL, or one per line."""

    file: Text
    id: JsonPath = Field(default="id", description="Path to a task's name, in JSON.")
    text: JsonPath | None = Field(default=None, description="Path to its text; else its name.")
    expect: JsonPath = Field(default="expect", description="Path to what is a success, if any.")
    reset: JsonPath = Field(default="reset", description="Path to the command before it, if any.")
    vocabulary: JsonPath = Field(default="vocabulary", description="Path to its actions, if any.")


class TaskEntry(NamedTask, frozen=True, extra="forbid"):
    """A task; the options apply to what it leaves out."""

    text: Text | None = Field(default=None, description="Left out: its name.")
    expect: _Expectation | None = Field(default=None, description="What counts as a success.")
    reset: _ScoringCommand | None = Field(default=None, description="A command before each trial.")
    vocabulary: VocabularyConfig | None = Field(
        default=None, description="The actions of the agent that works on it."
    )


class MinimumScore(BaseModel, frozen=True, extra="forbid"):
    """The smallest number with which a task is solved."""

    at_least: float


class ResultReader(BaseModel, frozen=True, extra="forbid"):
    """The place of the command's result: a path into a JSON file, or a regex in a text."""

    file: Text = Field(default=AGENT_LOG, description="Left out: what the command printed.")
    json_path: JsonPath | None = Field(default=None, alias="json", description="Path into JSON.")
    regex: Pattern | None = Field(
        default=None, description="Its last match counts; group 1, if any."
    )
    answer: JsonPath | None = Field(
        default=None,
        description="Path to the agent's answer, in JSON; will do alone beside expect.",
    )

    @field_validator("file")
    @classmethod
    def _is_fresh(cls, file: str) -> str:
        _check_template(file, not_here="is not known when the result is read; name {out}")
        within = Path(file.removeprefix("{out}/"))
        if within.is_absolute() or ".." in within.parts:
            raise ValueError(
                f"{file!r} must lie in {{out}}, which is new for each trial: elsewhere an old"
                " result would be taken for this one"
            )
        return file

    @model_validator(mode="after")
    def _one_of_two(self) -> Self:
        if self.answer is not None and self.regex is not None:
            raise ValueError("answer is a path into JSON and goes with json, not with regex")
        if self.json_path is not None and self.regex is not None:
            raise ValueError("give either json, a path, or regex, a pattern")
        if not self.scores and self.answer is None:
            raise ValueError("give either json, a path, or regex, a pattern")
        return self

    @property
    def scores(self) -> bool:
        """Whether it names a value to score, not only the answer."""
        return self.json_path is not None or self.regex is not None


class CommandOptions(BaseModel, frozen=True, extra="forbid"):
    """Options of the adapter."""

    command: _AgentCommand = Field(description="Split as a shell would, but by no shell.")
    tasks: tuple[Text | TaskEntry, ...] | TaskFile = Field(
        description="Names or tables, or a file of them."
    )
    result: ResultReader | None = Field(
        default=None, description="Left out: exit code 0 is solved, 1 is not, others are a crash."
    )
    success: bool | float | str | MinimumScore | None = Field(
        default=None, description="The value that is a success; left out: true, or the score."
    )
    expect: _Expectation | None = Field(
        default=None, description="What counts as a success, in place of `success`."
    )
    reset: _ScoringCommand | None = Field(
        default=None, description="A command before each trial that brings the site to its start."
    )
    codes: tuple[int, ...] = Field(default=(0,), description="Exit codes that do not mean a crash.")
    never: tuple[UrlGlob, ...] = Field(default=(), description="URL globs of exclusions.")
    verifiers: tuple[Text, ...] = Field(
        default=(), description="Prefixes of the judges' User-Agent: exclusions, too."
    )
    endpoints: tuple[Annotated[str, StringConstraints(pattern=r"^https?://\S+$")], ...] = Field(
        default=(), description="Base URLs of models that it always calls."
    )
    keys: tuple[Text, ...] = Field(
        default=("OPENAI_API_KEY",), description="API keys to give a placeholder if not set."
    )
    vocabulary: VocabularyConfig = VocabularyConfig()
    isolated: bool = Field(
        default=False,
        description="Whether each trial has a site of its own; if not, one runs at a time.",
    )
    arm: Arm | None = Field(default=None, description="Where the scenario does not say.")
    cwd: _Template | None = Field(default=None, description="Working directory.")
    environment: dict[str, str] = Field(default_factory=dict, description="Variables to set.")

    @model_validator(mode="after")
    def _one_success(self) -> Self:
        if self.expect is not None and self.success is not None:
            raise ValueError("both success and expect say what is a success; give one of the two")
        return self

    @field_validator("tasks")
    @classmethod
    def _names_can_be_written(
        cls, tasks: tuple[Text | TaskEntry, ...] | TaskFile
    ) -> tuple[Text | TaskEntry, ...] | TaskFile:
        if not isinstance(tasks, TaskFile):
            for task in tasks:
                if isinstance(task, str):
                    check_name(task)
        return tasks

    @field_validator("environment")
    @classmethod
    def _known_in_environment(cls, variables: dict[str, str]) -> dict[str, str]:
        for name, value in variables.items():
            if not name or "=" in name or "\0" in name:
                raise ValueError(f"{name!r} is not a name of a variable")
            if "\0" in _check_template(value):
                raise ValueError(f"{value!r} holds a zero byte, which no program can be given")
        return variables

    @property
    def arguments(self) -> Sequence[str]:
        """The command's parts, unfilled."""
        return split_command(self.command)
