"""Trials whose agent proves by its own first page that its browser comes through the proxy."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warex.errors import TrialVoid
from warex.traces import Canary, Trace

if TYPE_CHECKING:
    from warex.trials.run import Setting


def own_proof(setting: "Setting") -> bool:
    """Return whether no canary is needed: the agent opens a page first, and it is read."""
    return (
        setting.benchmark.opens_a_page
        and setting.record != "concerned"
        and not setting.pass_through
    )


def require_own_proof(trace: Trace, sites: Sequence[str], reached: bool | None) -> None:
    """Raise TrialVoid where the agent's browser was not seen to come through the proxy.

    ``reached``: whether anybody asked the sites for a page, by whatever way.
    """
    if any(canary.passed for canary in trace.events(Canary)):
        return
    pages = f"no page of {', '.join(sites)} came through the proxy"
    if reached is False:
        raise TrialVoid(
            f"the agent opened no page, so nothing shows where its browser goes: {pages}"
        )
    raise TrialVoid(f"bypassed: the agent ran, but {pages}, so its browser goes past it")
