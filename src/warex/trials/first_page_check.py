"""Trials in which the agent's first page replaces the canary."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warex.errors import TrialVoid
from warex.traces import Canary, Trace
from warex.trials.page_checks import bypass_message, no_page

if TYPE_CHECKING:
    from warex.trials.context import TrialContext


def first_page_is_proof(context: "TrialContext") -> bool:
    """Return whether no canary is needed: the agent opens a page first, and WAREX reads it."""
    return context.benchmark.opens_page_first and context.traffic.reads_everything


def require_first_page(trace: Trace, sites: Sequence[str], reached: bool | None) -> None:
    """Raise TrialVoid if no page of the agent's browser came through the proxy.

    ``reached``: whether the sites were asked for a page, by whatever way; None if unknown.
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
