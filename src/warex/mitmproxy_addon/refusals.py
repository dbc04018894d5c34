"""Faults that mitmproxy cannot show: it decides when each byte of an answer leaves."""

from collections.abc import Iterable

from warex.errors import ScenarioError
from warex.scenarios.scenario import Rule


def require_possible(rules: Iterable[Rule]) -> None:
    """Raise ScenarioError if a rule's fault needs more than mitmproxy's hooks allow."""
    needs = [(rule, rule.fault.needs_own_proxy) for rule in rules if rule.fault.needs_own_proxy]
    if not needs:
        return
    named = "; ".join(f"rule {rule.name!r} ({rule.fault.kind}) {what}" for rule, what in needs)
    raise ScenarioError(
        f"mitmproxy cannot do what the scenario asks for: {named}. WAREX's own proxy can: use warex"
        " proxy, warex exec or warex run"
    )
