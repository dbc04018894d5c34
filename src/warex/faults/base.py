"""The base classes of faults."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal, Self, override

from msgspec.structs import replace
from pydantic import BaseModel, Field, JsonValue

from warex.effects import Delay, Effect, Rewrite
from warex.exchange import Exchange, Request, Resource
from warex.faults.own_site import HostedSite
from warex.rewriting.base import ValueChange
from warex.rewriting.html_body.script_injection import (
    ScriptQueryHandler,
    injected_script,
    service_worker,
)
from warex.seeds import KeyedRng

type Stage = Literal["request", "response"]
"""When a fault is applied.

``request``: before the site sees the request. ``response``: after the site has acted, so only the
answer is lost; a lost answer to a POST means that the order *was* placed.
"""

type Category = Literal[
    "failure", "lie", "quota", "wall", "popup", "attack", "variation", "session", "change"
]
"""What a fault is to the agent; it determines what recovery means.

``failure``: the answer is missing or wrong; a retry may help. ``lie``: it looks healthy and is not
true. ``quota``: answers are refused for a time. ``wall``: a page replaces the site's until it is
passed. ``popup``: a dialog covers the page until it is closed. ``attack``: the page wants the agent
to act against its user. ``variation``: the site looks different and works as before. ``session``:
the site no longer knows its visitor. ``change``: something is different from then on, and is true.
"""

type FaultState = Mapping[str, JsonValue]
"""A fault's state between hits, per trial and rule; empty at the start."""

type EffectsAndState = tuple[tuple[Effect, ...], FaultState]
"""The effects of one hit, in order, and what the fault remembers from then on."""

type Seconds = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False, strict=True)]
"""A delay: a finite number from 0 to 3600."""

type ErrorStatus = Annotated[int, Field(ge=400, le=599, strict=True)]
"""An HTTP error status (RFC 9110 §15.5, §15.6)."""

type ConnectionPhase = Literal["name", "connect", "tls"]
"""Where a connection try can fail: at the lookup, the TCP connection or the TLS handshake."""

type Target = Literal["site", "connection", "llm", "mcp"]
"""Exchanges with sites, connection tries, calls to a model, or requests to an MCP server."""

_SERVERS: Final[Mapping[Target, str]] = {
    "site": "the site",
    "llm": "the model",
    "mcp": "the server",
}


def number_in(state: FaultState, name: str) -> float:
    """Return a number that the fault remembers; 0 if it remembers none."""
    value = state.get(name)
    return value if isinstance(value, int | float) else 0


def next_number(state: FaultState, what: str = "pages") -> tuple[int, FaultState]:
    """Return how many there were before this one, and the state that counts it."""
    number = int(number_in(state, what))
    return number, {**state, what: number + 1}


def run_in_page(
    module: str,
    settings: Mapping[str, JsonValue],
    state: FaultState,
    rng: KeyedRng,
    helpers: Sequence[str] = (),
    answers: ScriptQueryHandler | None = None,
    shows: Sequence[ValueChange] = (),
    details: Mapping[str, str] | None = None,
    meant: Sequence[ValueChange] = (),
    *,
    hangs: bool = False,
    worker: str = "",
) -> EffectsAndState:
    """Return the effect of ``injected_script``; each page reports to a path of its own.

    ``hangs``: it has requests that are never answered. ``worker``: the name of the script of its
    service worker, which is a function of the settings and of what authenticates a report.
    """
    number, state = next_number(state)
    report = f"/{rng.hex_word('report', number)}"
    edit = injected_script(module, settings, report, helpers, answers, shows, details, meant)
    if worker:
        edit = replace(edit, worker=service_worker(worker, settings, report))
    edit = replace(edit, hangs=hangs)
    return (Rewrite(edit),), state


def as_setting(words: Mapping[str, Mapping[str, str]]) -> JsonValue:
    """Return texts by language and name as a setting of a page's script."""
    return {language: dict(texts) for language, texts in words.items()}


def parts(**added: str | None) -> tuple[ValueChange, ...]:
    """Return the texts of what is added to a page, by what each is; None for what it has not."""
    named = ((name.replace("_", " "), text) for name, text in added.items())
    return tuple(ValueChange(name, "", text) for name, text in named if text)


def invalid_selector(selector: str | None) -> Mapping[str, str]:
    """Return the detail of a page's report on a selector that the browser cannot read."""
    return {"selector": f"{selector!r} is not a valid selector"}


class Fault(BaseModel, frozen=True, extra="forbid"):
    """One kind of misbehaviour and its parameters.

    ``effects`` must be pure: the same exchange always gets the same effects, and a test needs
    neither network nor clock.
    """

    summary: ClassVar[str]
    """One line for the catalogue in docs/reference/faults.md."""

    category: ClassVar[Category] = "failure"

    target: ClassVar[Target] = "site"

    point: ClassVar[ConnectionPhase | None] = None
    """Where the connection try fails; None for a fault of exchanges."""

    needs_namespace: ClassVar[bool] = False
    """Whether it shows only to a client in its own namespace. Other clients leave lookups and
    connections to the proxy, or are connected before the proxy is asked."""

    changes_page: ClassVar[bool] = False
    """Whether it changes the site's own page."""

    needs_secure_page: ClassVar[bool] = False
    """Whether only a page over HTTPS, or of this machine, can meet it."""

    reads_code: ClassVar[bool] = False
    """Whether its pages need the names that the site's scripts and styles use."""

    media_types: ClassVar[tuple[str, ...]] = ()
    """Media types of the only answers that it is about, if the rule names none; empty for all."""

    of_websockets: ClassVar[bool] = False
    """Whether it is only about WebSockets."""

    shows_site: ClassVar[bool] = False
    """Whether its pages, or its site's, look like the site's own."""

    gives_again: ClassVar[Literal["page", "answer"] | None] = None
    """What it repeats of the site's earlier answers: another page, or the same answer."""

    looks_healthy: ClassVar[bool] = False
    """Whether a model's answer is well-formed and wrong, so that traces cannot show who noticed."""

    default_resource: ClassVar[tuple[Resource, ...]] = ()
    """The value of ``resources``, unless parameters change it."""

    default_methods: ClassVar[tuple[str, ...]] = ()
    """The methods of a rule whose match names none; empty for all."""

    sizes: ClassVar[tuple[str, ...]] = ()
    """Parameters that a campaign's ``intensity`` multiplies."""

    own_site: ClassVar[HostedSite | None] = None
    """A site that the fault leads to; the proxy always answers it."""

    stage: Stage = "request"

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The resources of a rule whose match names none; empty for all."""
        return self.default_resource

    @property
    def held_s(self) -> float:
        """Seconds for which a hit exchange is held first."""
        return 0.0

    def with_hold_at_most(self, seconds: float) -> Self:
        """Return the fault with a delay of at most ``seconds``."""
        return self

    @property
    def needs_own_proxy(self) -> str:
        """What it does that a program which runs WAREX as its add-on cannot do; empty for nothing.

        A clause without a subject: ``sends an answer piece by piece``.
        """
        return ""

    @property
    def needs_stream(self) -> bool:
        """Whether it is about a model's streamed answers only."""
        return False

    @property
    def is_endless(self) -> bool:
        """Whether only its client or the end of the trial ends what it does."""
        return False

    @property
    def only_late(self) -> bool:
        """Whether every message of a channel comes: late, twice or in another order."""
        return False

    @property
    def inaction_resists(self) -> bool:
        """Whether an agent that meets the attack and ignores it has resisted."""
        return self.category == "attack"

    @property
    def covers_page(self) -> bool:
        """Whether it may open a dialog over a page."""
        return self.category == "popup"

    @property
    def third_party_only(self) -> bool:
        """Whether a rule with it matches only resources of another site than the page's."""
        return False

    @property
    def tools(self) -> str | None:
        """A glob over the names of the only tools it is about; None for all."""
        return None

    def asks_tools(self, method: str, tool: str) -> bool:
        """Whether it is about such a request to an MCP server, if the rule names no method."""
        return method == "tools/call"

    if TYPE_CHECKING:

        @property
        def kind(self) -> str:
            """The fault's name, a literal that is also the name of its file."""

    @abstractmethod
    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Return the effects on this exchange, in order, and the new state."""

    def still_applies(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether an earlier hit of the rule still applies to this exchange.

        The exchange is then hit whatever the trigger says, and belongs to the same occurrence. A
        quota stays used up for a time; a wall stays until it is passed.
        """
        return False

    def spares(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether the fault is over for this exchange, whatever the trigger says."""
        return False

    def reaches(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether an earlier hit has a consequence here, though the rule does not match it."""
        return False

    def observed(self, state: FaultState, exchange: Exchange) -> FaultState:
        """Return the state after a request that comes later than a hit, before it is judged."""
        return state

    def noted(self, state: FaultState, exchange: Exchange, what: str) -> FaultState:
        """Return the state after a report about the exchange that was hit.

        ``what``: what the page has reported, or ``cleared`` for a wall that was passed.
        """
        return state

    @property
    def never_ends(self) -> str:
        """The consequence for a fault that should end, if every request is hit; empty for none.

        A clause that follows "so": ``its quota is used up again as soon as it is over``.
        """
        return ""

    @abstractmethod
    def outcome(self) -> str:
        """Return how ``explain`` ends, in words with the parameters' values."""

    def explain(self) -> str:
        """Return what the client meets: ``is held for 10 s and then answered 504``."""
        steps = [f"handled by {_SERVERS[self.target]}"] if self.stage == "response" else []
        if self.held_s:
            steps.append(f"held for {self.held_s:g} s")
        before = f"{', '.join(steps)} and then " if steps else ""
        return f"is {before}{self.outcome()}"

    @property
    def rewrites(self) -> bool:
        """Whether it changes the site's own answer."""
        return any(effect.traits.rewrites for effect in self.effects_on_page())

    @property
    def changes_messages(self) -> bool:
        """Whether it changes single messages of a channel that stays open."""
        return any(effect.traits.changes_messages for effect in self.effects_on_page())

    @property
    def keeps_answer(self) -> bool:
        """Whether the site's own answer comes complete, perhaps late."""
        return all(effect.traits.keeps_response for effect in self.effects_on_page())

    @property
    def works_without_site(self) -> bool:
        """Whether a request may be answered or cut though the site is down."""
        effects = self.effects_on_page() if self.stage == "request" else ()
        return any(effect.traits.works_without_site for effect in effects)

    def effects_on_page(self) -> tuple[Effect, ...]:
        """Return its effects on the first request for a page."""
        exchange = Exchange("", Request("GET", "https://site.example/"))
        return self.effects(exchange, {}, KeyedRng(0, ""))[0]

    def stage_of(self, effects: Sequence[Effect]) -> Stage:
        """Return when effects of it are applied: what only changes an answer waits for one."""
        only_rewrites = bool(effects) and all(effect.traits.rewrites for effect in effects)
        return "response" if only_rewrites else self.stage

    def responds_within(self, seconds: float) -> bool:
        """Whether a request for a page gets an answer, the site's or another, in that time."""
        cut = any(effect.traits.sends_no_response for effect in self.effects_on_page())
        return self.held_s <= seconds and not cut


class HeldFault(Fault, frozen=True):
    """A fault that may first delay what it hits."""

    sizes: ClassVar[tuple[str, ...]] = ("delay",)

    if TYPE_CHECKING:

        @property
        def delay(self) -> float:
            """Seconds; each subclass has its own field."""

    @property
    @override
    def held_s(self) -> float:
        return self.delay

    @override
    def with_hold_at_most(self, seconds: float) -> Self:
        return self.model_copy(update={"delay": min(self.delay, seconds)})

    @property
    def hold_effects(self) -> tuple[Effect, ...]:
        """The delay as an effect, if there is one."""
        return (Delay(self.delay),) if self.delay else ()


class PageFault(Fault, frozen=True):
    """A fault that changes the site's own page.

    A rule with it matches top-level pages, and frames only if its match names documents.
    """

    changes_page: ClassVar[bool] = True
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    stage: Literal["response"] = "response"

    @override
    def explain(self) -> str:
        return f"is handled by the site, and {self.outcome()}"


class ConnectionFault(Fault, frozen=True):
    """A fault that is applied to a connection try, before there is a request.

    Its exchange is a ``CONNECT`` to the host's origin. All connection tries at one host and port
    within ``hold`` seconds of the first are one occurrence, since clients silently try a second
    address or try again. The hold begins once the client can know of the failure, after
    ``gives_up_after_s`` seconds.
    """

    target: ClassVar[Target] = "connection"
    point: ClassVar[ConnectionPhase]

    sizes: ClassVar[tuple[str, ...]] = ("hold",)

    stage: Literal["request"] = "request"
    hold: Seconds = Field(
        default=3.0,
        description="Seconds for which tries at the same host and port are one occurrence.",
    )

    @property
    def gives_up_after_s(self) -> float:
        """Seconds after which a client learns that the try has failed."""
        return 0.0

    @property
    def retries_for_s(self) -> float:
        """Seconds for which one try must be hit in order to fail."""
        return 0.0

    @abstractmethod
    def effect(self) -> Effect:
        """Return what the try meets."""

    @override
    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        return (self.effect(),), state

    @override
    def explain(self) -> str:
        hold = self.gives_up_after_s + self.hold - self.retries_for_s
        again = f"; so is every connection try at that host within {hold:g} s of the first"
        return f"is {self.outcome()}{again if hold else ''}"
