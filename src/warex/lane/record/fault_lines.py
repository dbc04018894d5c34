"""A line on the terminal for each fault, as it ends."""

from typing import Final

from warex.traces import FaultDelivered, FaultMissed, FaultPlanned

_LONGEST_URL: Final = 200
"""Characters of a URL that are printed."""


def fault_line(plan: FaultPlanned, end: FaultDelivered | FaultMissed) -> str:
    """Return a sentence on an injection; the URL without its query, which may hold secrets."""
    url = plan.url.partition("?")[0].partition("#")[0]
    if len(url) > _LONGEST_URL:
        url = f"{url[:_LONGEST_URL]}…"
    what = f"{plan.fault['kind']} on {url} (rule {plan.rule})"
    if isinstance(end, FaultMissed):
        return f"missed: {what}: {end.reason.replace('_', ' ')}"
    waited = f", after {end.waited_s:.1f} s" if end.waited_s >= 0.05 else ""
    return f"delivered: {what}{waited}"
