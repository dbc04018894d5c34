"""What the author of a connection fault may not have meant."""

import ipaddress
from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from warex.faults import ConnectionFault
from warex.scenarios.scenario import SITES, Rule
from warex.text.escaping import in_backticks
from warex.traffic import Arm

_FROM_A_PAGE: Final = frozenset({"first_page", "first_page_or_llm_call"})


def cannot_fail(rule: Rule, fault: ConnectionFault, sites: tuple[str, ...]) -> Iterable[str]:
    """Yield the reason why the fault cannot happen to anything that the rule is about."""
    origin, match = rule.match.origin, rule.match
    if origin is None:
        pattern = named = ", ".join(sites)
        hosts = [urlsplit(site).hostname or "" for site in sites]
        has_tls = not sites or any(site.startswith("https:") for site in sites)
    else:
        pattern, named = in_backticks(match.url or match.url_exact or "*"), origin.host
        hosts, has_tls = [origin.host], "https" in origin.schemes
    if fault.point == "tls" and not has_tls:
        yield f"{pattern} is plain HTTP, which has no TLS to fail"
    if fault.point == "name" and hosts and all(map(_is_address, hosts)):
        yield f"{named} is an address, which needs no lookup"


def lint_connection_rule(rule: Rule, fault: ConnectionFault, arm: Arm | None) -> Iterable[str]:
    """Yield a lint warning for each thing that the author may not have meant."""
    yield from _late(rule, fault, arm)
    yield from _hold(rule, fault)
    origin = rule.match.origin
    one_host = origin is not None and "*" not in origin.host
    if rule.per == "rule" and not rule.trigger.always and not one_host:
        yield (
            "numbers connection tries at several hosts together, which a browser makes in parallel,"
            " so which of them fail can differ from run to run; `per: url` numbers each host and"
            " port by itself."
        )


def _late(rule: Rule, fault: ConnectionFault, arm: Arm | None) -> Iterable[str]:
    trigger = rule.trigger
    starts_late = trigger.after_step or (trigger.between is not None and trigger.between[0] > 0)
    if fault.point == "name" and (starts_late or arm == "first_llm_call"):
        yield (
            "begins when a browser may have the address already, and does not ask again for a"
            " minute or longer; connection_refused applies then too."
        )
    elif arm in _FROM_A_PAGE and not (rule.match.url or "").startswith(SITES):
        yield (
            "counts connection tries at the task's sites from the first on, and all others once"
            " the first page has been asked for; where no site is named, all count from the start."
        )


def _hold(rule: Rule, fault: ConnectionFault) -> Iterable[str]:
    window = rule.trigger.between
    lasts = fault.gives_up_after_s + fault.hold
    if window is not None and window[1] - window[0] < lasts:
        yield (
            f"applies for longer than its window of {window[1] - window[0]:g} s: what is"
            f" tried within {lasts:g} s of a hit (`hold`) is hit too."
        )
    if fault.hold == 0:
        yield (
            "has no hold: a second address, or a browser's own second try, is another"
            " occurrence, and may heal the first before anybody notices."
        )


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
