"""A line on the terminal for each fault, as it ends."""

from warex.traces import FaultDelivered, FaultMissed, FaultPlanned


def fault_line(plan: FaultPlanned, end: FaultDelivered | FaultMissed) -> str:
    """Return a sentence on an injection; the URL without its query, which may hold secrets."""
    url = plan.url.partition("?")[0].partition("#")[0]
    what = f"{plan.fault['kind']} on {url} (rule {plan.rule})"
    if isinstance(end, FaultMissed):
        return f"missed: {what}: {end.reason.replace('_', ' ')}"
    waited = f", after {end.waited_s:.1f} s" if end.waited_s >= 0.05 else ""
    return f"delivered: {what}{waited}"
