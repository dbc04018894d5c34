"""The paper's ``config.json`` (WAREX paper §3.3), turned into a scenario.

The paper describes the file's content but not its keys: a failure type, an exact or
regular-expression URL, and a ``frequency``: 0 hits only the first matching URL, x > 0 hits each
matching one by chance until x were hit. The URL alone decides what is hit; a ``js_error`` may be
about a stylesheet (§5.1) or a page. Several spellings are accepted, other keys are mistakes; see
docs/reference/scenarios.md.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import BaseModel, Field, JsonValue, model_validator

from warex.errors import ScenarioError
from warex.exchange import Resource
from warex.faults import ErrorStatus, Seconds
from warex.scenarios.mistakes import format_errors, validate_document
from warex.scenarios.scenario import SITES, Probability, Scenario
from warex.text.regex import Regex, RegexError

_KEYS: Final = {
    "failure_type": ("type", "failure", "error_type", "fault", "fault_type"),
    "url": ("url_pattern", "pattern", "target", "target_url", "endpoint"),
    "url_match": ("match", "match_type", "url_type"),
    "frequency": ("freq",),
    "probability": ("p",),
    "delay": ("delay_seconds", "delay_s"),
    "status_code": ("status", "code", "error_code"),
    "failures": ("injections", "faults"),
}
"""The keys, and other spellings of each."""

_VALUES: Final = {
    "failure_type": {
        "network_error": ("network", "network_delay", "delay", "timeout"),
        "server_error": ("server", "server_side_error", "http_error", "http"),
        "js_error": ("js", "js_failure", "javascript", "javascript_error", "javascript_failure"),
    },
    "url_match": {"exact": ("url",), "regex": ("regexp", "reg_exp", "re", "pattern")},
}

_OWN_KEYS: Final = {"rules", "schema_version"}

_FAULTS: Final[Mapping[str, Mapping[str, JsonValue]]] = {
    "network_error": {"kind": "network_error"},
    "server_error": {"kind": "http_error", "status": 500},
    "js_error": {"kind": "javascript_failure"},
}

DEFAULT_PROBABILITY: Final = 0.5
"""Probability of each hit with a frequency above 0; the paper gives no number."""

type Frequency = Annotated[int, Field(ge=0, strict=True)]
"""0: only the first matching request; x: each by chance until x hits (paper §3.3)."""


def frequency_trigger(
    frequency: int, probability: float = DEFAULT_PROBABILITY
) -> dict[str, JsonValue]:
    """Return the trigger for the paper's frequency, for a rule with ``per: rule``."""
    if frequency == 0:
        return {"first": 1}
    return {"random": {"times": frequency, "probability": probability}}


class PaperFailure(BaseModel, frozen=True, extra="forbid"):
    """One failure of the paper's file."""

    failure_type: Literal["network_error", "server_error", "js_error"]
    url: str | None = Field(default=None, min_length=1, description="Left out: all task sites.")
    url_match: Literal["exact", "regex"] = "exact"
    frequency: Frequency = 0
    probability: Probability = DEFAULT_PROBABILITY
    delay: Seconds | None = None
    status_code: ErrorStatus | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.failure_type == "js_error" and self.status_code is not None:
            raise ValueError("a js_error always answers 504; leave 'status_code' out")
        if self.url is not None and self.url_match == "regex":
            try:
                Regex(self.url)
            except RegexError as error:
                raise ValueError(f"url {error}") from None
        return self


class PaperConfig(BaseModel, frozen=True, extra="forbid"):
    """The paper's file: one failure, or several in order."""

    failures: tuple[PaperFailure, ...] = Field(min_length=1)


def is_paper_config(data: Mapping[str, JsonValue]) -> bool:
    """Whether a document has the keys of the paper's file, not of a scenario."""
    keys = {_spelled(key) for key in data}
    return not keys & _OWN_KEYS and bool(keys & {"failure_type", "failures", "frequency"})


def read_paper_config(data: Mapping[str, JsonValue], path: Path) -> Scenario:
    """Return the scenario that the paper's file describes; ``path`` names it.

    Raises ScenarioError with every mistake in it.
    """
    where = f"{path}, read as the paper's config.json"
    try:
        plain = _canonical(dict(data))
    except ValueError as error:
        raise ScenarioError(format_errors(where, [str(error)])) from None
    several = isinstance(plain, dict) and "failures" in plain
    if several:
        config, mistakes = validate_document(PaperConfig, plain)
    else:
        failure, mistakes = validate_document(PaperFailure, plain)
        config = PaperConfig(failures=(failure,)) if failure else None
    if config is None:
        raise ScenarioError(format_errors(where, mistakes))
    rules = [_rule(number, failure) for number, failure in enumerate(config.failures, 1)]
    return Scenario.model_validate({"name": path.stem.strip() or "config", "rules": rules})


def _rule(number: int, failure: PaperFailure) -> dict[str, JsonValue]:
    match: dict[str, JsonValue]
    if failure.url is not None:
        match = {f"url_{failure.url_match}": failure.url}
        if failure.failure_type == "js_error":
            # The fault's own default would match only scripts.
            match["resource"] = list(get_args(Resource.__value__))
    elif failure.failure_type == "js_error":
        match = {"url": SITES}
    else:
        match = {"url": SITES, "resource": ["document"]}
    name = failure.failure_type.replace("_", "-")
    return {
        "name": f"{name}-{number}",
        "match": match,
        "trigger": frequency_trigger(failure.frequency, failure.probability),
        "per": "rule",
        "fault": _fault(failure),
    }


def _fault(failure: PaperFailure) -> dict[str, JsonValue]:
    fault = {**_FAULTS[failure.failure_type]}
    if failure.status_code is not None:
        fault["status"] = failure.status_code
    if failure.delay is not None:
        fault["delay"] = failure.delay
    return fault


def _canonical(value: JsonValue) -> JsonValue:
    """Return the document with canonical keys and values."""
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain: dict[str, JsonValue] = {}
    for key, item in value.items():
        name = _spelled(key)
        if name in plain:
            raise ValueError(f"{key!r} and another key both mean {name!r}; keep one of them")
        plain[name] = _value(name, item)
    return plain


def _value(key: str, value: JsonValue) -> JsonValue:
    if key == "failures":
        return _canonical(value)
    if isinstance(value, str):
        for canonical, others in _VALUES.get(key, {}).items():
            if _snake(value) in (canonical, *others):
                return canonical
    return value


def _spelled(key: str) -> str:
    snake = _snake(key)
    return next((name for name, others in _KEYS.items() if snake in (name, *others)), key)


def _snake(word: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", word).replace("-", "_").replace(" ", "_").lower()
