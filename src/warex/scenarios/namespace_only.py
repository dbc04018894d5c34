"""Where a fault can show: a client that leaves the work to a proxy cannot see that work fail."""

from collections.abc import Iterable
from typing import Final

from warex.errors import ScenarioError
from warex.scenarios.scenario import Rule
from warex.text.english import of_number

NAMESPACE_MODE: Final = "namespace mode (warex exec --isolate namespace, or the same of warex run)"
"""Where every fault can show, as users ask for it."""


def namespace_only_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Return the rules whose faults show in namespace mode only."""
    return tuple(rule for rule in rules if rule.fault.needs_namespace)


def require_namespace(rules: Iterable[Rule], *, in_namespace: bool) -> None:
    """Raise ScenarioError where a rule's fault cannot show; it names the mode that can."""
    found = () if in_namespace else namespace_only_rules(rules)
    if not found:
        return
    told = ", ".join(f"{rule.name!r} ({rule.fault.kind})" for rule in found)
    raise ScenarioError(
        f"{of_number(len(found), 'rule')} {told} cannot show here: a client that goes through a"
        " proxy leaves names and connections to it, and one that is redirected is answered before"
        " the proxy is asked;"
        f" use {NAMESPACE_MODE}"
    )
