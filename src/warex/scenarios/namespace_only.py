"""Faults that only namespace mode can show: other clients leave connections to the proxy."""

from collections.abc import Iterable
from typing import Final

from warex.errors import ScenarioError
from warex.scenarios.scenario import Rule
from warex.text.english import of_number

NAMESPACE_MODE: Final = "namespace mode (warex exec --isolate namespace, or the same of warex run)"
"""The mode's name in messages."""


def require_namespace(rules: Iterable[Rule], *, in_namespace: bool) -> None:
    """Raise ScenarioError if a rule's fault needs namespace mode and it is not used."""
    hidden = [rule for rule in rules if rule.fault.needs_namespace]
    if in_namespace or not hidden:
        return
    named = ", ".join(f"{rule.name!r} ({rule.fault.kind})" for rule in hidden)
    raise ScenarioError(
        f"{of_number(len(hidden), 'rule')} {named} cannot show here: a client that goes through a"
        " proxy leaves names and connections to it, and one that is redirected is answered before"
        " the proxy is asked;"
        f" use {NAMESPACE_MODE}"
    )
