"""Trials whose agent proves by its own first page that its browser comes through the proxy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warex.errors import TrialVoid
from warex.traces import Canary, Trace
from warex.trials.page_checks import bypass_message, no_page

if TYPE_CHECKING:
    from warex.trials.context import TrialContext


def first_page_is_proof(context: "TrialContext") -> bool:
    """Return whether no canary is needed: the agent opens a page first, and it is read."""
    return context.benchmark.opens_page_first and context.traffic.reads_everything


def require_first_page(trace: Trace, sites: Sequence[str], reached: bool | None) -> None:
    """Raise TrialVoid where the agent's browser was not seen to come through the proxy.

    ``reached``: whether anybody asked the sites for a page, by whatever way.
    """
    if any(canary.passed for canary in trace.events(Canary)):
        return
    pages = no_page(sites)
    if reached is False:
        raise TrialVoid(
            f"the agent opened no page, so nothing shows where its browser goes: {pages}"
        )
    if reached is None:
        raise TrialVoid(
            f"bypassed or never asked for: the agent ran, but {pages}. This agent opens a page"
            " first, so most likely its browser goes past the proxy; agent.log says more"
        )
    raise TrialVoid(bypass_message(f"the agent ran, but {pages}"))
