"""A service worker answers with pages and scripts as they were, while the site has gone on."""

from typing import ClassVar, Final, Literal, Self, override

from pydantic import Field, JsonValue, model_validator

from warex.exchange import Exchange
from warex.faults.base import EffectsAndState, FaultState, PageFault, Seconds, run_in_page
from warex.seeds import KeyedRng

_MOST_SITES: Final = 100
"""Origins of a trial that get a worker."""
_DETAILS: Final = {
    "insecure": "a service worker needs HTTPS or localhost",
    "unsupported": "the browser offers this page no service workers",
    "own": "the site has a service worker of its own",
    "policy": "the page's policy, sandbox or certificate allows no such worker",
    "failed": "the browser could not start the worker",
    "unused": "no page or script was loaded again",
}


class StaleServiceWorker(PageFault, frozen=True):
    """Register a worker that keeps pages, scripts and styles as they are seen first.

    Sources: W3C Service Workers, section 4.5 (``fetch`` events) and 2.4.2 (a forced reload passes
    by the worker); Secure Contexts.
    """

    summary: ClassVar = "Answer with the old page and script, by a service worker."
    needs_secure_page: ClassVar = True

    kind: Literal["stale_service_worker"] = "stale_service_worker"
    heals: Literal["hard_reload", "reload", "wait"] = Field(
        default="hard_reload",
        description="What ends it: a forced reload; loading a page twice; or waiting.",
    )
    lasts: Seconds = Field(
        default=60.0, description="Seconds after which it ends, with `heals: wait`."
    )

    @model_validator(mode="after")
    def _lasts_only_where_waiting_heals(self) -> Self:
        if self.heals != "wait" and self.lasts != type(self).model_fields["lasts"].default:
            raise ValueError(
                f"lasts is for heals: wait, and heals is {self.heals}; it is {self.lasts:g}."
                " Leave it out"
            )
        return self

    def effects(self, exchange: Exchange, state: FaultState, rng: KeyedRng) -> EffectsAndState:
        """Register the worker of a site at its first page that is hit."""
        known, origin = _origins(state), _origin(exchange)
        if len(known) < _MOST_SITES:
            state = {**state, "origins": [*known, origin]}
        settings: dict[str, JsonValue] = {
            "isEarly": True,
            "heals": self.heals,
            "lasts": round(self.lasts * 1000),
        }
        worker = f"{__package__}.stale_worker"
        return run_in_page(__name__, settings, state, rng, details=_DETAILS, worker=worker)

    @override
    def spares(self, exchange: Exchange, state: FaultState) -> bool:
        """Whether the site has its worker."""
        return _origin(exchange) in _origins(state)

    @override
    def outcome(self) -> str:
        ends = {
            "hard_reload": "until it is reloaded by force",
            "reload": "each until it is loaded again",
            "wait": f"for {self.lasts:g} s",
        }
        return (
            "registers a service worker that answers with pages and scripts as they were seen"
            f" first, {ends[self.heals]}"
        )


def _origin(exchange: Exchange) -> str:
    parts = exchange.request.parts
    return f"{parts.scheme}://{parts.netloc}"


def _origins(state: FaultState) -> list[JsonValue]:
    """Return the origins that have the worker."""
    origins = state.get("origins")
    return origins if isinstance(origins, list) else []
