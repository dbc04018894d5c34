"""Expectations that score a task without a benchmark's judge: text, regex, check, URL."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator

from warex.benchmarks.scoring.user_commands import (
    CommandLine,
    Notify,
    ignore_notice,
    run_user_command,
    split_command,
)
from warex.benchmarks.table import Text
from warex.errors import TrialVoid
from warex.scenarios.matching.url_patterns import any_of, normalise
from warex.text.escaping import escape_controls, in_backticks
from warex.text.regex import Regex
from warex.traces import RequestSeen, ResponseSeen, Trace, TrialBegan

PRINTED = "the answer (all that the command printed)"
"""The answer, if the options name no other."""

_KEEPS_THE_PAGE = (204, 205)
"""Status codes with which a browser keeps its page (RFC 9110, sections 15.3.5 and 15.3.6)."""


def _check_pattern(pattern: str) -> str:
    Regex(pattern, multiline=True)
    return pattern


def _check_glob(glob: str) -> str:
    if not glob.startswith("*") and "://" not in glob:
        raise ValueError(f"{in_backticks(glob)} matches no URL; write https://… or begin with *")
    return glob


type Pattern = Annotated[Text, AfterValidator(_check_pattern)]
"""A regular expression, checked."""
type UrlGlob = Annotated[Text, AfterValidator(_check_glob)]
"""A pattern that some URL can match."""


class Expectation(BaseModel, frozen=True, extra="forbid"):
    """What counts as a success; all that is given must hold."""

    text: Text | None = Field(default=None, description="Is part of the agent's answer.")
    regex: Pattern | None = Field(default=None, description="Is found in the agent's answer.")
    check: CommandLine | None = Field(
        default=None, description="A command: code 0 is solved, 1 is not, others void the trial."
    )
    url: UrlGlob | None = Field(
        default=None, description="A URL, `*` is any text: the last page that the browser opened."
    )

    @model_validator(mode="before")
    @classmethod
    def _text_alone(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if not value:
            raise ValueError("it is empty; give the text that is in the answer of a success")
        return {"text": value}

    @field_validator("text")
    @classmethod
    def _says_something(cls, text: str | None) -> str | None:
        if text is not None and not text.strip():
            raise ValueError("it is blank, and a blank text is in every answer")
        return text

    @model_validator(mode="after")
    def _require_condition(self) -> Self:
        if not self.model_dump(exclude_none=True):
            raise ValueError("give at least one of text, regex, check and url")
        return self

    @property
    def asks_the_answer(self) -> bool:
        """Whether the agent's answer is needed."""
        return self.text is not None or self.regex is not None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the expectations hold, and why."""

    solved: bool
    reasons: tuple[str, ...]
    """A sentence for each expectation."""


def judge(
    expect: Expectation,
    *,
    answer: Callable[[], str],
    trace: Trace | None,
    command: Callable[[CommandLine], Sequence[str]] = split_command,
    cwd: Path | None = None,
    verifiers: Sequence[str] = (),
    answer_is: str = "the answer",
    notify: Notify = ignore_notice,
) -> Verdict:
    """Return whether an ended trial meets the expectations.

    ``answer`` is called if it is needed; ``trace`` is None without a proxy; ``command`` returns the
    parts of a check, filled in; pages opened by a User-Agent with a prefix in ``verifiers`` do not
    count; ``answer_is`` describes the answer in messages; ``notify`` is called if a check is slow.
    Raises TrialVoid if the result cannot be determined.
    """
    checks = list(_looked_at(expect, answer, answer_is, trace, verifiers))
    if expect.check is not None:
        checks.append(checked(command(expect.check), cwd, notify=notify))
    return Verdict(all(good for good, _ in checks), tuple(sentence for _, sentence in checks))


def _looked_at(
    expect: Expectation,
    answer: Callable[[], str],
    answer_is: str,
    trace: Trace | None,
    verifiers: Sequence[str],
) -> Iterator[tuple[bool, str]]:
    answer_text = answer() if expect.asks_the_answer else ""
    if expect.text is not None:
        good = _even(expect.text) in _even(answer_text)
        yield good, f"{expect.text!r} {'is' if good else 'is not'} in {answer_is}"
    if expect.regex is not None:
        good = Regex(expect.regex, multiline=True).matches(answer_text)
        yield good, f"{in_backticks(expect.regex)} is {'' if good else 'not '}found in {answer_is}"
    if expect.url is not None:
        yield _ended_at(expect.url, trace, verifiers)


def checked(
    parts: Sequence[str], cwd: Path | None = None, *, notify: Notify = ignore_notice
) -> tuple[bool, str]:
    """Run a check; return whether the task is solved, and a sentence."""
    ran = run_user_command("the check", parts, cwd=cwd, notify=notify)
    if ran.code not in (0, 1):
        raise TrialVoid(f"the check cannot tell: it {ran.ending}; 0 is solved, 1 is not")
    return ran.code == 0, f"the check {ran.ending}"


def reset(parts: Sequence[str], cwd: Path | None = None, *, notify: Notify = ignore_notice) -> None:
    """Reset a site; raise TrialVoid if the command fails."""
    ran = run_user_command("the reset", parts, cwd=cwd, notify=notify)
    if ran.code != 0:
        raise TrialVoid(f"the site was not reset: the command {ran.ending}")


def _even(text: str) -> str:
    """Return a text with case and white space normalised."""
    return " ".join(text.casefold().split())


def _ended_at(glob: str, trace: Trace | None, verifiers: Sequence[str]) -> tuple[bool, str]:
    if trace is None:
        raise TrialVoid("without the proxy it is not known at which URL the browser ends")
    if any(began.record == "concerned" for began in trace.events(TrialBegan)):
        raise TrialVoid(
            "at which URL the browser ends is known only where all traffic is read; leave --record"
            " concerned out"
        )
    last = _last_page(trace, verifiers)
    if last is None:
        return False, f"the browser opened no page, and was to end at {glob}"
    request, response = last
    url = escape_controls(request.url)
    if not any_of((glob,))(normalise(request.url)):
        return False, f"the browser ended at {url} and not at {glob}"
    if response is None or response.status is None:
        return False, f"the browser ended at {url}, which was not answered"
    if response.by != "site" or response.status >= 400:
        by = "a fault" if response.by == "warex" else "the site"
        return False, f"the browser ended at {url}, which {by} answered with {response.status}"
    return True, f"the browser ended at {url}"


def _last_page(
    trace: Trace, verifiers: Sequence[str]
) -> tuple[RequestSeen, ResponseSeen | None] | None:
    """Return the last page that a browser opened in a window or tab, and its response."""
    answers = {answer.exchange: answer for answer in trace.events(ResponseSeen)}
    for request in reversed(trace.events(RequestSeen)):
        headers = {name.lower(): value for name, value in request.headers}
        ours = headers.get("user-agent", "").startswith(tuple(verifiers)) if verifiers else False
        ahead = "prefetch" in headers.get("sec-purpose", headers.get("purpose", ""))
        if request.resource != "document" or not request.top_level or ours or ahead:
            continue
        answer = answers.get(request.exchange)
        if answer is None or answer.status not in _KEEPS_THE_PAGE:
            return request, answer
    return None
