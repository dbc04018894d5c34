"""What the author of a scenario may not have meant: rules that meet, or can never strike."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final
from urllib.parse import urlsplit

from warex.exchange import Exchange, Request, Response
from warex.faults import ConnectionFault, Point, ends
from warex.scenarios.connection_doubts import connection_doubts
from warex.scenarios.patterns import matcher, normalise
from warex.scenarios.scenario import SITES, Match, Rule, Scenario, Trigger
from warex.seeds import Luck

_SAFE_METHODS: Final = {"GET", "HEAD", "OPTIONS"}


def doubts(scenario: Scenario) -> tuple[str, ...]:
    """Return a sentence for each thing in the scenario that its author may not have meant."""
    found = [doubt for rule in scenario.rules for doubt in _of(rule, scenario)]
    for earlier, later in combinations(_as_judged(scenario.rules), 2):
        found += _together(earlier, later)
    return tuple(found)


def _of(rule: Rule, scenario: Scenario) -> Iterable[str]:
    if isinstance(rule.fault, ConnectionFault):
        return connection_doubts(rule, rule.fault, scenario.arm)
    return _alone(rule)


def may_write(rule: Rule) -> bool:
    """Whether the rule may hit a request that changes something on the site."""
    return not rule.match.method or not set(rule.match.method) <= _SAFE_METHODS


def _alone(rule: Rule) -> Iterable[str]:
    name = f"Rule {rule.name!r}"
    pattern = rule.match.url_exact or rule.match.url or "*"
    if not pattern.startswith(("*", SITES)) and "://" not in pattern:
        yield (
            f"{name} can never strike: no URL begins like {pattern!r}; write the scheme too, as in "
            f"'https://{pattern}', or begin with *."
        )
    if SITES in pattern.removeprefix(SITES):
        yield f"{name} has {SITES} in the middle of {pattern!r}; it has a meaning only in front."
    if rule.fault.stage == "response" and may_write(rule):
        yield (
            f"{name} strikes after the site has acted, also on writes such as POST: the order was "
            "placed, and the browser is told that it was not."
        )
    if rule.per == "rule" and not rule.trigger.always and _may_come_in_parallel(rule):
        yield (
            f"{name} numbers requests together that a browser sends in parallel, so which of them "
            "are hit can differ from run to run; `per: url` hits the same ones in any order."
        )


def _may_come_in_parallel(rule: Rule) -> bool:
    return _only_url(rule.match) is None and set(rule.resources) != {"document"}


def _as_judged(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules in the order of their turns: at the request first, then at the answer."""
    return sorted(rules, key=lambda rule: rule.match.needs_response)


def _together(earlier: Rule, later: Rule) -> Iterable[str]:
    if _point(earlier) != _point(later) or not _may_meet(earlier, later):
        return
    what = "exchange" if _point(earlier) is None else "attempt"
    both = f"Rules {earlier.name!r} and {later.name!r}"
    why = "stands before it" if _judged_together(earlier, later) else "is judged at the request"
    if not (_ends(earlier) and _ends(later)):
        yield f"{both} may meet in one {what}; then both strike, in this order."
    elif _hits_all_of(earlier, later):
        yield (
            f"Rule {later.name!r} can never strike: rule {earlier.name!r} {why} and "
            f"already answers every {what} it would hit (missed: superseded)."
        )
    else:
        yield (
            f"{both} may meet in one {what}; then {earlier.name!r} stands and {later.name!r} is "
            f"missed (superseded){_turns(earlier, later)}."
        )


def _point(rule: Rule) -> Point | None:
    """Return which attempts the rule is about; None for exchanges."""
    return rule.fault.point if isinstance(rule.fault, ConnectionFault) else None


def _judged_together(one: Rule, other: Rule) -> bool:
    return one.match.needs_response == other.match.needs_response


def _turns(earlier: Rule, later: Rule) -> str:
    if _judged_together(earlier, later):
        return ""
    return f": {earlier.name!r} is judged at the request, {later.name!r} only at the answer"


def _may_meet(one: Rule, other: Rule) -> bool:
    """Whether one exchange can match both, as far as can be told without seeing any."""
    return (
        _share(one.match.method, other.match.method)
        and _share(one.resources, other.resources)
        and _share(one.match.status, other.match.status)
        and _urls_may_meet(one.match, other.match)
    )


def _share(some: Sequence[object] | None, others: Sequence[object] | None) -> bool:
    return not some or not others or bool(set(some) & set(others))


def _urls_may_meet(one: Match, other: Match) -> bool:
    if SITES in f"{one.url} {other.url}":
        return True
    for single, pattern in ((one, other), (other, one)):
        if (url := _only_url(single)) is not None:
            return matcher(pattern, ())(url)
    if one.url is None or other.url is None:
        return True
    fixed, longer = sorted(normalise(glob).partition("*")[0] for glob in (one.url, other.url))
    return longer.startswith(fixed)


def _only_url(match: Match) -> str | None:
    """Return the one URL that matches, where there is only one."""
    url = match.url_exact or match.url
    if url is None or (match.url_exact is None and ("*" in url or SITES in url)):
        return None
    return normalise(url if urlsplit(url).path else f"{url}/")


def _ends(rule: Rule) -> bool:
    """Whether the fault ends an exchange: tried on one, since faults are pure."""
    url = rule.match.url_exact or "https://site.example/"
    method = rule.match.method[0] if rule.match.method else "GET"
    response = Response(rule.match.status[0] if rule.match.status else 200)
    exchange = Exchange("trial", Request(method, url), response)
    effects, _ = rule.fault.effects(exchange, {}, Luck(0, rule.name))
    return any(map(ends, effects))


def _hits_all_of(earlier: Rule, later: Rule) -> bool:
    """Whether every exchange that the later rule hits is surely hit by the earlier one."""
    wide, narrow = earlier.trigger, later.trigger
    windows = (narrow.between, narrow.after_step)
    if wide.always:
        unbounded = (wide.between, wide.after_step) == (None, None)
        # A window may open or close between the request and its answer.
        alike = _judged_together(earlier, later) and (wide.between, wide.after_step) == windows
        return _matches_all_of(earlier, later) and (unbounded or alike)
    # Ordinals say the same only where both rules count the same exchanges.
    counts_alike = (
        earlier.match == later.match
        and earlier.resources == later.resources
        and earlier.per == later.per
        and (wide.between, wide.after_step) == windows
    )
    return counts_alike and _ordinals_within(narrow, wide)


def _ordinals_within(narrow: Trigger, wide: Trigger) -> bool:
    if wide.every is not None and narrow.every is not None:
        return narrow.every % wide.every == 0
    if narrow.nth is not None:
        numbers: Iterable[int] = narrow.nth
    elif narrow.first is not None and wide.first is not None:
        return narrow.first <= wide.first
    elif narrow.first is not None and wide.nth is not None:
        return narrow.first <= len(wide.nth) and set(range(1, narrow.first + 1)) <= set(wide.nth)
    else:
        return False
    if wide.first is not None:
        return all(number <= wide.first for number in numbers)
    if wide.nth is not None:
        return set(numbers) <= set(wide.nth)
    return wide.every is not None and all(number % wide.every == 0 for number in numbers)


def _matches_all_of(wide: Rule, narrow: Rule) -> bool:
    same_stage = not wide.match.needs_response or narrow.match.needs_response
    return (
        same_stage
        and _holds(wide.match.method, narrow.match.method)
        and _holds(wide.resources, narrow.resources)
        and _holds(wide.match.status, narrow.match.status)
        and (wide.match.content_type in (None, narrow.match.content_type))
        and _urls_hold(wide.match, narrow.match)
    )


def _holds(wide: Sequence[object] | None, narrow: Sequence[object] | None) -> bool:
    return not wide or bool(narrow and set(narrow) <= set(wide))


def _urls_hold(wide: Match, narrow: Match) -> bool:
    if wide.url is None and wide.url_exact is None and wide.url_regex is None:
        return True
    if (wide.url, wide.url_exact, wide.url_regex) == (
        narrow.url,
        narrow.url_exact,
        narrow.url_regex,
    ):
        return True
    url = _only_url(narrow)
    return url is not None and SITES not in (wide.url or "") and matcher(wide, ())(url)
