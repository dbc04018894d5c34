"""The testbed's tasks: a goal in words, a check that judges, an oracle that proves it solvable.

The data is a `tasks.toml` beside each kind of site; the format is described in
the README.
"""

import functools
import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, Field, ValidationError, model_validator

from warex_testbed.sites import KINDS

FILES = tuple(Path(__file__).parent / "sites" / kind / "tasks.toml" for kind in KINDS)
"""A task file for each kind of site."""


class Verdict(BaseModel, frozen=True, extra="forbid"):
    """How a task ended: 1.0 or 0.0, and a sentence for each thing that did not hold."""

    score: float
    reasons: tuple[str, ...] = ()


class Condition(BaseModel, frozen=True, extra="forbid"):
    """One thing that must hold in the site's state.

    `path` is dotted. Either it leads to a list, where `count` items must have all fields of
    `where`, or to a value that `equals` another. A list in a field is compared in any order:
    no goal asks for one.
    """

    path: str
    where: dict[str, Any] = Field(default_factory=dict)
    count: int | None = Field(default=None, ge=0)
    equals: bool | int | str | None = None

    @model_validator(mode="after")
    def _one_question(self) -> Self:
        if (self.count is None) == (self.equals is None):
            raise ValueError("a condition needs either count or equals")
        if self.where and self.count is None:
            raise ValueError("where goes with count")
        return self

    def complaint(self, state: Mapping[str, Any]) -> str | None:
        """Return what is wrong with the state, or None; raises KeyError for an unknown path."""
        value: Any = state
        for key in self.path.split("."):
            value = value[key]
        if self.count is None:
            if value == self.equals:
                return None
            return f"{self.path} is {value!r} and should be {self.equals!r}"
        missing = object()
        count = sum(
            all(_matches(item.get(key, missing), wanted) for key, wanted in self.where.items())
            for item in value
        )
        if count == self.count:
            return None
        fields = ", ".join(f"{key} = {wanted!r}" for key, wanted in self.where.items())
        return f"{self.path} with {fields or 'anything'}: {count} found, {self.count} wanted"


def _matches(actual: Any, wanted: Any) -> bool:
    if isinstance(actual, list) and isinstance(wanted, list):
        return _sorted(actual) == _sorted(wanted)
    return bool(actual == wanted)


def _sorted(items: list[Any]) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in items)


class AnswerCheck(BaseModel, frozen=True, extra="forbid"):
    """What the final message must say and must not, as whole words in any case.

    A list within `contains` is a choice. A number is compared by its value, and with a whole
    number of the message. `lacks` are wrong candidates: an answer that names one beside the right
    one, or recites the page with both, has not chosen.
    """

    contains: tuple[str | tuple[str, ...], ...] = Field(min_length=1)
    lacks: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _can_be_answered(self) -> Self:
        for words in self.lacks:
            for choice in (choice for choices in self._choices() for choice in choices):
                if _says(choice, words):
                    raise ValueError(f"lacks {words!r} is part of {choice!r} of contains")
        return self

    def complaints(self, answer: str | None) -> list[str]:
        """Return a sentence for each thing that the message should say, or should not."""
        if answer is None:
            return ["no answer was given"]
        missing = [
            f"the answer does not contain {' or '.join(map(repr, choices))}"
            for choices in self._choices()
            if not any(_says(answer, words) for words in choices)
        ]
        return missing + [
            f"the answer says {words!r}, which is not asked for"
            for words in self.lacks
            if _says(answer, words)
        ]

    def _choices(self) -> list[tuple[str, ...]]:
        return [(each,) if isinstance(each, str) else each for each in self.contains]


_FIGURES = re.compile(r"(?<!\w)(?<!\d[.,:])\d++(?:[.,:]\d++)*+(?!\w)")
"""All that is written together: 12:30 holds no 12, and 1,350 no 350."""
_NUMBER = re.compile(r"(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?")


def _says(answer: str, words: str) -> bool:
    number = _number(words)
    if number is not None:
        return any(_number(figures) == number for figures in _FIGURES.findall(answer))
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", answer, re.IGNORECASE) is not None


def _number(figures: str) -> Decimal | None:
    return Decimal(figures.replace(",", "")) if _NUMBER.fullmatch(figures) else None


class Check(BaseModel, frozen=True, extra="forbid"):
    """What decides a task: conditions on the site's state, on the final message, or both."""

    state: tuple[Condition, ...] = ()
    answer: AnswerCheck | None = None

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.state and self.answer is None:
            raise ValueError("a check needs state, answer or both")
        return self


class OracleStep(BaseModel, frozen=True, extra="forbid"):
    """One action of a known solution, on the element with this ARIA role and accessible name.

    Steps in a row with the same `page` share one load of it and can be redone after a reload.
    For `answer`, the element is the evidence that must be there before `text` is sent.
    """

    page: str
    action: Literal["click", "fill", "select_option", "press", "answer"]
    role: str
    name: str
    text: str = ""

    @model_validator(mode="after")
    def _text_where_needed(self) -> Self:
        if (self.action == "click") == bool(self.text):
            raise ValueError(f"{self.action} on {self.name!r}: only a click goes without text")
        return self


class Task(BaseModel, frozen=True, extra="forbid"):
    """One task on one site; the browser starts at `start` on `host`."""

    name: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)+$")
    site: str
    host: str
    start: str = Field(pattern="^/")
    goal: str = Field(min_length=1)
    check: Check
    oracle: tuple[OracleStep, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.name.startswith(f"{self.site}-"):
            raise ValueError(f"the name {self.name!r} must start with the site, {self.site!r}")
        answers = [step.action == "answer" for step in self.oracle]
        if not answers[-1] or sum(answers) > 1:
            raise ValueError(f"the oracle of {self.name!r} must end with its only answer")
        return self

    def start_url(self, scheme: str = "https") -> str:
        """Return where the browser starts; `http` where the sites are served without TLS."""
        return f"{scheme}://{self.host}{self.start}"

    def judge(self, state: Mapping[str, Any], answer: str | None) -> Verdict:
        """Score what the agent left behind: `state` is the whole JSON of the admin port's `/state`.

        Raises ValueError when the state is not one of this testbed.
        """
        try:
            complaints = [each.complaint(state[self.host]) for each in self.check.state]
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"task {self.name}: the state has no such place on {self.host}: {error}; "
                "expected is the JSON of the testbed's /state"
            ) from error
        reasons = [complaint for complaint in complaints if complaint is not None]
        if self.check.answer is not None:
            reasons += self.check.answer.complaints(answer)
        return Verdict(score=0.0 if reasons else 1.0, reasons=tuple(reasons))


class _TaskFile(BaseModel, frozen=True, extra="forbid"):
    task: tuple[Task, ...]


def read_tasks(text: str, source: str) -> tuple[Task, ...]:
    """Read a task file; `source` names it in messages. Raises ValueError."""
    try:
        return _TaskFile.model_validate(tomllib.loads(text)).task
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{source} is not a task file: it is not TOML: {error}") from error
    except ValidationError as error:
        places = (
            f"{'.'.join(map(str, each['loc'])) or 'the file'}: {each['msg']}"
            for each in error.errors(include_url=False)
        )
        raise ValueError(f"{source} is not a task file: {'; '.join(places)}") from error


def require_distinct(tasks: tuple[Task, ...], source: str) -> tuple[Task, ...]:
    """Return the tasks; raise ValueError where two have the same name or goal.

    The scripted model knows a task by its goal alone.
    """
    for key in ("name", "goal"):
        counts = Counter(getattr(task, key) for task in tasks)
        twice = [value for value, count in counts.items() if count > 1]
        if twice:
            raise ValueError(f"{source}: two tasks have the same {key}: {twice[0]!r}")
    return tasks


@functools.cache
def load_tasks() -> tuple[Task, ...]:
    """Return the testbed's tasks, kind by kind, in the order of their files.

    Raises ValueError where a file is wrong, or two tasks cannot be distinguished.
    """
    read = (read_tasks(file.read_text("utf-8"), str(file)) for file in FILES)
    return require_distinct(tuple(task for tasks in read for task in tasks), "the testbed's tasks")
