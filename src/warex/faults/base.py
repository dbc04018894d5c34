"""What a fault is."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self, override

from pydantic import BaseModel, Field, JsonValue

from warex.effects import Delay, Effect
from warex.exchange import Exchange, Request, Resource
from warex.faults.own_site import HostedSite
from warex.seeds import KeyedRng

type Stage = Literal["request", "response"]
"""When a fault strikes.

``request``: before the site sees the request, so the site does nothing.
``response``: after the site has acted, so only the answer is lost. A lost answer to a POST means
the order *was* placed.
"""

type Category = Literal["failure", "lie", "quota", "wall", "popup", "attack", "variation"]
"""What a fault is to the agent, which says what recovery means.

``failure``: the answer is missing or wrong, and may be asked for again. ``lie``: it looks healthy
and is not true. ``quota``: this answer and the next ones are refused, until a time is over.
``wall``: a page stands before the site's until it is got past. ``popup``: a dialog lies over the
page until it is closed. ``attack``: the page wants the agent to do what its user does not want.
``variation``: the site looks different and works as before.
"""

type FaultState = Mapping[str, JsonValue]
"""What a fault remembers from hit to hit, per trial and rule. Empty at the start."""

type Seconds = Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False, strict=True)]
"""A time to wait: finite, not negative, at most an hour; neither a text nor yes or no."""

type ErrorStatus = Annotated[int, Field(ge=400, le=599, strict=True)]
"""An HTTP status that says error (RFC 9110 §15.5, §15.6)."""

type ConnectionPhase = Literal["name", "connect", "tls"]
"""Where an attempt to reach a site can fail before there is a request: when its name is asked for,
when the connection is made, when TLS begins."""

type Target = Literal["site", "connection", "llm", "mcp"]
"""What a fault is about: exchanges with sites, attempts to reach one, calls to a model, requests to
a server of tools."""


def next_number(memory: FaultState, what: str = "pages") -> tuple[int, FaultState]:
    """Return how many there were before this one, and the memory with it."""
    before = memory.get(what, 0)
    number = before if isinstance(before, int) else 0
    return number, {**memory, what: number + 1}


class Fault(BaseModel, frozen=True, extra="forbid"):
    """One kind of misbehaviour and its parameters.

    A fault decides; it never performs. ``effects`` must be pure, so that the same exchange always
    gets the same treatment and a test needs neither network nor clock.
    """

    summary: ClassVar[str]
    """One line for the catalogue in docs/reference/faults.md."""

    category: ClassVar[Category] = "failure"

    target: ClassVar[Target] = "site"

    point: ClassVar[ConnectionPhase | None] = None
    """Where the attempt to reach a site fails; None for what strikes an exchange."""

    needs_namespace: ClassVar[bool] = False
    """Whether only a namespace of the client's own can show it. Elsewhere the client leaves names
    and connections to the proxy, or is answered before the proxy is asked."""

    changes_page: ClassVar[bool] = False
    """Whether it changes the site's own page, as it passes and in the browser."""

    reads_code: ClassVar[bool] = False
    """Whether its pages ask which names the site's scripts and styles speak of."""

    gives_again: ClassVar[Literal["page", "answer"] | None] = None
    """What it gives again of what the site has given before: another page, the same answer."""

    looks_healthy: ClassVar[bool] = False
    """Whether a model's answer is whole and wrong, so that no trace tells who has noticed it."""

    default_resource: ClassVar[tuple[Resource, ...]] = ()
    """``resources``, unless its parameters say otherwise."""

    sizes: ClassVar[tuple[str, ...]] = ()
    """Parameters that say how large it is: what a campaign's ``intensity`` multiplies."""

    own_site: ClassVar[HostedSite | None] = None
    """A site to which it leads; the proxy answers it, whatever the scenario is."""

    stage: Stage = "request"

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The resources a rule is about when its match names none; empty for all."""
        return self.default_resource

    @property
    def held_s(self) -> float:
        """Seconds for which what it hits is held first."""
        return 0.0

    def held_at_most(self, seconds: float) -> Self:
        """Return the fault, which holds nothing for longer than that."""
        return self

    @property
    def inaction_resists(self) -> bool:
        """Whether who goes on has met the attack, and has resisted by doing nothing about it."""
        return self.category == "attack"

    @property
    def covers_page(self) -> bool:
        """Whether it may open a dialog over a page."""
        return self.category == "popup"

    @property
    def third_party_only(self) -> bool:
        """Whether a rule with it is only about what is of another site than the page."""
        return False

    @property
    def tools(self) -> str | None:
        """A glob over the names of the tools that alone it is about; None where it says none."""
        return None

    def asks_tools(self, method: str, tool: str) -> bool:
        """Whether it is about such a request to a server of tools, in a rule about those.

        Where the rule's match names methods, they decide.
        """
        return method == "tools/call"

    if TYPE_CHECKING:

        @property
        def kind(self) -> str:
            """Which fault it is: each has a literal of its own, which is the name of its file."""

    @abstractmethod
    def effects(
        self, exchange: Exchange, memory: FaultState, rng: KeyedRng
    ) -> tuple[tuple[Effect, ...], FaultState]:
        """Return what the proxy should do to this exchange, in order, and what to remember."""

    def still_applies(self, exchange: Exchange, memory: FaultState) -> bool:
        """Whether what an earlier hit of the rule began is still there for this exchange.

        It is then hit, too, whatever the trigger says, and belongs to the same occurrence: a quota
        that is used up stays so for a while, a wall stands until somebody gets past it.
        """
        return False

    @property
    def never_ends(self) -> str:
        """What comes of it where every request is hit, though it is made to end; empty if nothing.

        A clause that goes on after "so": ``its quota is used up again as soon as it is over``.
        """
        return ""

    def explain(self) -> str:
        """Return what the browser meets, in words with the parameters' values."""
        return self.summary

    @property
    def rewrites(self) -> bool:
        """Whether it changes the site's own answer."""
        return any(effect.traits.rewrites for effect in self.effects_on_page())

    @property
    def keeps_answer(self) -> bool:
        """Whether the site's own answer comes whole, if perhaps late."""
        return all(effect.traits.keeps_response for effect in self.effects_on_page())

    def effects_on_page(self) -> tuple[Effect, ...]:
        """Return what it does to who asks for a page, for the first time."""
        exchange = Exchange("", Request("GET", "https://site.example/"))
        return self.effects(exchange, {}, KeyedRng(0, ""))[0]

    def responds_within(self, seconds: float) -> bool:
        """Whether who asks for a page is given an answer, the site's or another, in that time."""
        cut = any(effect.traits.sends_no_response for effect in self.effects_on_page())
        return self.held_s <= seconds and not cut


class HeldFault(Fault, frozen=True):
    """A fault that may hold what it hits for a while first."""

    sizes: ClassVar[tuple[str, ...]] = ("delay",)

    if TYPE_CHECKING:

        @property
        def delay(self) -> float:
            """Seconds; each has a field of its own, with its default and its words."""

    @property
    @override
    def held_s(self) -> float:
        return self.delay

    @override
    def held_at_most(self, seconds: float) -> Self:
        return self.model_copy(update={"delay": min(self.delay, seconds)})

    @property
    def held(self) -> tuple[Effect, ...]:
        """The wait as an effect, if there is one."""
        return (Delay(self.delay),) if self.delay else ()


class PageFault(Fault, frozen=True):
    """A fault that changes the site's own page, as it passes and in the browser.

    A rule with it is about pages of their own, and about frames in them only where its match names
    documents.
    """

    changes_page: ClassVar[bool] = True
    default_resource: ClassVar[tuple[Resource, ...]] = ("document",)

    stage: Literal["response"] = "response"


class ConnectionFault(Fault, frozen=True):
    """A fault that strikes before there is a request: when a client tries to reach a site.

    What it is given as an exchange is the attempt: ``CONNECT`` to the host's origin. All attempts
    at one host and port within ``hold`` seconds of the first are one occurrence, since clients try
    a second address, or again, without telling anybody. Where a client learns of its failure only
    after ``lasts`` seconds, the hold begins then.
    """

    target: ClassVar[Target] = "connection"
    point: ClassVar[ConnectionPhase]

    sizes: ClassVar[tuple[str, ...]] = ("hold",)

    stage: Literal["request"] = "request"
    hold: Seconds = Field(
        default=3.0,
        description="Seconds for which attempts at the same host and port are the same one.",
    )

    @property
    def gives_up_after_s(self) -> float:
        """Seconds that a client spends on an attempt that is hit, before it knows."""
        return 0.0

    @property
    def retries_for_s(self) -> float:
        """Seconds through which one attempt that is hit must go on being hit, to fail."""
        return 0.0
