"""A scenario: named, ordered rules, each with a match, a trigger and a fault."""

import math
from typing import Annotated, Final, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    StringConstraints,
    field_validator,
    model_validator,
)

from warex.exchange import Resource
from warex.faults import AnyFault
from warex.faults.field_types import Count, OneOrMore
from warex.llm.families import api_names, family_named
from warex.scenarios.origins import ALLOWED, OriginPattern, parse_origin_pattern
from warex.text.english import did_you_mean
from warex.text.escaping import in_backticks
from warex.text.regex import Regex
from warex.traffic import Arm

SITES = "{sites}"
"""Stands in a URL pattern for the benchmark's task sites."""


HTTP_METHODS = (
    *("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "QUERY"),
    *("ACL", "BASELINE-CONTROL", "BIND", "CHECKIN", "CHECKOUT", "COPY", "LABEL", "LINK", "LOCK"),
    *("MERGE", "MKACTIVITY", "MKCALENDAR", "MKCOL", "MKREDIRECTREF", "MKWORKSPACE", "MOVE"),
    *("ORDERPATCH", "PRI", "PROPFIND", "PROPPATCH", "REBIND", "REPORT", "SEARCH", "UNBIND"),
    *("UNCHECKOUT", "UNLINK", "UNLOCK", "UPDATE", "UPDATEREDIRECTREF", "VERSION-CONTROL"),
    *("BAN", "NOTIFY", "PURGE", "SUBSCRIBE", "UNSUBSCRIBE"),
)
"""The methods of IANA's registry, the most frequent first, and those of caches and of UPnP."""


def _known_methods(methods: tuple[str, ...]) -> tuple[str, ...]:
    for method in methods:
        if method.upper() not in HTTP_METHODS:
            hint = did_you_mean(method.upper(), HTTP_METHODS) or (
                f"; give {', '.join(HTTP_METHODS[:9])}, or another of IANA's registry"
            )
            raise ValueError(f"HTTP method {method!r} does not exist{hint}")
    return tuple(method.upper() for method in methods)


def _url(pattern: str) -> str:
    try:
        urlsplit(pattern)
    except ValueError as error:
        raise ValueError(f"{in_backticks(pattern)} is not a URL: {error}") from None
    return pattern


def _finite(window: tuple[float, float]) -> tuple[float, float]:
    start, end = window
    if not (math.isfinite(start) and math.isfinite(end) and 0 <= start < end):
        raise ValueError(f"[{start}, {end}] is not a window; write two seconds, 0 <= start < end")
    return window


type Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=True)]
type Status = Annotated[int, Field(ge=100, le=599, strict=True)]
type UrlPattern = Annotated[str, Field(min_length=1), AfterValidator(_url)]
type Name = Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^\S(.*\S)?$")]


class LlmMatch(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """Which calls to a model a rule is about. All given keys must hold; without any, all calls."""

    family: OneOrMore[str] | None = Field(default=None, description="APIs: `openai_chat`…")
    model: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="A glob over the model's name as it is asked for."
    )
    step: OneOrMore[Count] | None = Field(
        default=None,
        description="Steps of the agent, from 1; a client's own repeat belongs to its step.",
    )

    @field_validator("family")
    @classmethod
    def _families_exist(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        for name in names or ():
            try:
                family_named(name)
            except KeyError:
                known = ", ".join(api_names())
                raise ValueError(f"there is no API {name!r}; there are {known}") from None
        return names


class McpMatch(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """Which requests to a server of tools (MCP) a rule is about. All given keys must hold."""

    method: OneOrMore[Annotated[str, Field(min_length=1)]] | None = Field(
        default=None,
        description="Globs over what is asked: `tools/list`, `*`…; left out, `tools/call`, or what"
        " the fault is about by itself.",
    )
    tool: OneOrMore[Annotated[str, Field(min_length=1)]] | None = Field(
        default=None, description="Globs over the name of the tool that is called."
    )


class Match(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """Which exchanges a rule is about. All given keys must hold."""

    url: UrlPattern | None = Field(
        default=None,
        description="A glob over the whole URL: `*` is any text, everything else stands for itself;"
        " `{sites}` stands for the benchmark's task sites.",
    )
    url_exact: UrlPattern | None = Field(default=None, description="The whole URL.")
    url_regex: str | None = Field(
        default=None,
        min_length=1,
        description="A regular expression, searched in the URL: Python's, without look-around and"
        " back-references.",
    )
    method: Annotated[OneOrMore[str], AfterValidator(_known_methods)] | None = Field(
        default=None, description="HTTP methods."
    )
    resource: OneOrMore[Resource] | None = Field(
        default=None, description="What the browser wants the answer for."
    )
    status: OneOrMore[Status] | None = Field(
        default=None, description="Statuses of the site's own answer."
    )
    content_type: OneOrMore[str] | None = Field(
        default=None, description="Media types of the site's own answer; `image/*` is allowed."
    )

    llm: LlmMatch | None = Field(
        default=None, description="Calls to a model, and nothing else; `{}` for all of them."
    )
    mcp: McpMatch | None = Field(
        default=None,
        description="Requests to servers of tools (MCP), and nothing else; `{}` for all calls of"
        " tools.",
    )

    @field_validator("url_regex")
    @classmethod
    def _regex_compiles(cls, pattern: str | None) -> str | None:
        if pattern is not None:
            Regex(pattern)
        return pattern

    @model_validator(mode="after")
    def _one_pattern(self) -> Self:
        present = [key for key in ("url", "url_exact", "url_regex") if getattr(self, key)]
        if len(present) > 1:
            raise ValueError(f"{' and '.join(present)} exclude each other; give one")
        if self.llm is not None and self.mcp is not None:
            raise ValueError("llm and mcp exclude each other: no request is to a model and a tool")
        return self

    @property
    def origin(self) -> OriginPattern | None:
        """What a rule with a connection fault is about; None for the task sites.

        Raises ValueError if the pattern is more than an origin.
        """
        pattern, exact = self.url_exact or self.url or "*", self.url_exact is not None
        if exact or not pattern.startswith(SITES):
            return parse_origin_pattern(pattern, exact=exact)
        if pattern.removeprefix(SITES) not in ("", "*", "/", "/*"):
            raise ValueError(f"{in_backticks(pattern)} goes on after {SITES}")
        return None

    @property
    def of_websockets(self) -> bool:
        """Whether the pattern names the scheme ``ws`` or ``wss``, which only WebSockets have."""
        scheme, mark, _ = (self.url_exact or self.url or "").partition("://")
        return bool(mark) and scheme.lower() in ("ws", "wss")

    @property
    def needs_response(self) -> bool:
        """Whether the match needs the site's answer."""
        return self.status is not None or self.content_type is not None


class Random(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """Each matching exchange with a probability, until so many were hit."""

    times: Count
    probability: Probability = 0.5


_KINDS = ("first", "nth", "every", "random", "probability", "always")


class Trigger(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """Which of the matching exchanges are hit: exactly one kind, and windows that narrow it."""

    first: Count | None = Field(default=None, description="The first k; then the site heals.")
    nth: OneOrMore[Count] | None = Field(default=None, description="Exactly these, from 1.")
    every: Count | None = Field(default=None, description="Every k-th.")
    random: Random | None = Field(
        default=None, description="Each with a probability, until a number of them were hit."
    )
    probability: Probability | None = Field(
        default=None, description="Each with this probability, without limit."
    )
    always: Literal[True] | None = Field(default=None, description="All.")
    between: Annotated[tuple[float, float], AfterValidator(_finite)] | None = Field(
        default=None, description="Only within these seconds of the trial."
    )
    after_step: Annotated[int, Field(ge=0, strict=True)] | None = Field(
        default=None, description="Only after this many steps of the agent."
    )
    trials: Probability | None = Field(
        default=None, description="Only in this share of trials, drawn once for each."
    )

    @model_validator(mode="after")
    def _exactly_one(self) -> Self:
        present = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(present) != 1:
            names = " and ".join(present) or "none"
            raise ValueError(f"found {names}; give exactly one of {', '.join(_KINDS)}")
        return self


_OF_REQUESTS = ("url_regex", "method", "resource", "status", "content_type", "llm", "mcp")


class Rule(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """Hit the matching exchanges, when triggered, with a fault."""

    name: Name
    match: Match = Match()
    trigger: Trigger
    per: Literal["rule", "url"] = Field(
        default="rule",
        description="What is numbered: all that the rule matches, or each method + URL by itself;"
        " for connection faults each host and port.",
    )
    fault: AnyFault

    @model_validator(mode="after")
    def _origin_only(self) -> Self:
        if self.fault.point is None:
            return self
        when = f"{self.fault.kind} is applied before there is a request"
        present = [key for key in _OF_REQUESTS if getattr(self.match, key) is not None]
        if present:
            raise ValueError(
                f"{when}, so match.{' and match.'.join(present)} cannot be known; its match may"
                f" hold only url or url_exact, with scheme, host and port, such as {ALLOWED}"
            )
        try:
            _ = self.match.origin
        except ValueError as mistake:
            key = "url_exact" if self.match.url_exact is not None else "url"
            raise ValueError(
                f"match.{key}: {mistake}; {when}, so write for instance"
                f" {ALLOWED if key == 'url' else 'https://shop.example:8443'}"
            ) from None
        return self

    @model_validator(mode="after")
    def _stage_fits(self) -> Self:
        if self.match.needs_response and self.fault.stage == "request":
            raise ValueError(
                "match.status and match.content_type are known only after the site has answered;"
                " set fault.stage to 'response'"
            )
        return self

    @model_validator(mode="after")
    def _of_calls_only(self) -> Self:
        present = [key for key in ("method", "resource") if getattr(self.match, key) is not None]
        if (self.targets_llm or self.targets_mcp) and present:
            calls, key = ("tools", "mcp") if self.targets_mcp else ("a model", "llm")
            raise ValueError(
                f"the rule is about calls to {calls}, which match.{key} selects; leave match."
                f"{' and match.'.join(present)} out"
            )
        if self.targets_llm and self.targets_mcp:
            kind, key = self.fault.kind, "llm" if self.match.llm is not None else "mcp"
            raise ValueError(f"{kind} is about other requests than match.{key}; leave that out")
        return self

    @property
    def media_types(self) -> tuple[str, ...]:
        """The media types of the answers that it is about, by default the fault's."""
        return self.match.content_type or self.fault.media_types

    @property
    def needs_response(self) -> bool:
        """Whether it is judged at the site's answer."""
        return self.match.needs_response or bool(self.fault.media_types)

    @property
    def targets_llm(self) -> bool:
        """Whether the rule is only about calls to a model."""
        return self.match.llm is not None or self.fault.target == "llm"

    @property
    def targets_mcp(self) -> bool:
        """Whether the rule is only about requests to MCP servers."""
        return self.match.mcp is not None or self.fault.target == "mcp"

    @property
    def methods(self) -> tuple[str, ...] | None:
        """The rule's methods, by default the fault's; None for all."""
        return self.match.method or self.fault.default_methods or None

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The rule's resources, by default the fault's; empty for all."""
        if self.targets_llm or self.targets_mcp:
            return ()
        named = self.match.resource or self.fault.resources
        if named or not self.match.of_websockets or self.fault.point is not None:
            return named
        return ("websocket",)


class Scenario(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """Named, ordered rules."""

    schema_version: Literal[1] = 1
    name: Name
    description: str = ""
    arm: Arm | None = Field(
        default=None,
        description="From when on exchanges are hit and counted; left out, the benchmark decides.",
    )
    never: tuple[UrlPattern, ...] = Field(
        default=(), description="URL globs never touched nor counted, beside the built-in ones."
    )
    rules: tuple[Rule, ...] = ()

    @property
    def page_resources_of_programs(self) -> frozenset[Resource]:
        """The resources of a program's requests that stand for pages; empty by default.

        They are not documents (``exchange.resource_of``), but a rule that names ``other`` and
        ``document``, and not all resources, is about an agent that is a program.
        """
        named = (set(rule.match.resource or ()) for rule in self.rules)
        every = set(get_args(Resource.__value__))
        kinds = {kind for each in named if {"document", "other"} <= each < every for kind in each}
        return frozenset(kinds & {"other", "xhr"})

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        names = [rule.name for rule in self.rules]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two rules are called {twice[0]!r}; the ledger needs one name each")
        return self


NO_RULES: Final = Scenario.model_construct(name="clean")
"""No rules; made without a validator, since most of a start without a scenario was its making."""
