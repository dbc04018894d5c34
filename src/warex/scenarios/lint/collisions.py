"""Rules that may meet in one exchange or attempt, and what becomes of them there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal
from urllib.parse import urlsplit

from warex.exchange import Exchange, Request, Response
from warex.scenarios.matching.url_patterns import matcher, normalise
from warex.scenarios.scenario import SITES, LlmMatch, Match, McpMatch, Rule, Trigger
from warex.seeds import KeyedRng
from warex.text.english import of_number

type _What = Literal["exchange", "attempt"]


@dataclass(frozen=True, slots=True)
class _Meeting:
    """What happens where two rules meet."""

    what: _What
    both_strike: bool


def superseded(rules: Iterable[Rule]) -> dict[str, Rule]:
    """Return, by name, the rules that can never strike, each with the rule that takes its place."""
    found: dict[str, Rule] = {}
    for earlier, later in combinations(_as_judged(rules), 2):
        if later.name not in found and _stands_for(earlier, later):
            found[later.name] = earlier
    return found


def explain_superseded(rules: Sequence[Rule]) -> Iterator[str]:
    """Yield a sentence for each rule that leaves nothing to others, naming them."""
    by_name = {rule.name: rule for rule in rules}
    groups: dict[tuple[str, str], list[Rule]] = {}
    for name, earlier in superseded(rules).items():
        later = by_name[name]
        why = "stands before" if _judged_together(earlier, later) else "is judged at the request"
        groups.setdefault((earlier.name, why), []).append(later)
    for (earlier_name, why), later_ones in groups.items():
        one = len(later_ones) == 1
        end = (" it" if one else " them") if why == "stands before" else ""
        yield (
            f"{_rules(later_ones)} can never strike: rule {earlier_name!r} {why}{end} and already"
            f" answers every {_what(later_ones[0])} {'it' if one else 'they'} would hit (missed:"
            " superseded)."
        )


def collisions(rules: Iterable[Rule]) -> Iterator[str]:
    """Yield a sentence for each group of rules that may meet."""
    judged = _as_judged(rules)
    meetings: dict[_Meeting, dict[tuple[int, int], None]] = {}
    for (i, earlier), (j, later) in combinations(enumerate(judged), 2):
        if earlier.fault.point == later.fault.point and _may_meet(earlier, later):
            both_strike = not (_ends(earlier) and _ends(later))
            kind = _Meeting(_what(earlier), both_strike)
            meetings.setdefault(kind, {})[i, j] = None
    for kind, pairs in meetings.items():
        for group in _connected(pairs):
            yield _told(kind, [judged[each] for each in group], _shape(group, pairs))


type _Shape = Literal["all", "first", "last", "some"]
"""Which rules of a group meet: all of them each other, its first or last each other one, some."""


def _shape(group: Sequence[int], pairs: Mapping[tuple[int, int], None]) -> _Shape:
    inside = {pair for pair in combinations(group, 2) if pair in pairs}
    if len(inside) == len(group) * (len(group) - 1) // 2:
        return "all"
    if inside == {(group[0], other) for other in group[1:]}:
        return "first"
    if inside == {(other, group[-1]) for other in group[:-1]}:
        return "last"
    return "some"


def _connected(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the numbers that pairs connect, in groups."""
    groups: list[set[int]] = []
    for pair in pairs:
        touched = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if group not in touched]
        groups.append(set(pair).union(*touched))
    return sorted(map(sorted, groups))


def _told(kind: _Meeting, group: Sequence[Rule], shape: _Shape) -> str:
    many, what = len(group) > 2, kind.what
    if shape == "first":
        lead = f"Rule {group[0].name!r} may meet each of the rules {_names(group[1:])}"
    elif shape == "last":
        lead = f"Rule {group[-1].name!r} may meet each of the rules {_names(group[:-1])}"
    else:
        lead = f"{'Some of the rules' if shape == 'some' else 'Rules'} {_names(group)} may meet"
    lead += f" in one {what}; then"
    if kind.both_strike:
        return f"{lead} {'all that meet' if many else 'both'} strike, in this order."
    if not many or shape == "first":
        stands, missed = repr(group[0].name), "the other" if many else repr(group[1].name)
    elif shape == "last":
        stands, missed = "the other", repr(group[-1].name)
    else:
        stands, missed = "the first in this order", ""
    others = f"{missed} is" if missed else "the others are"
    return f"{lead} {stands} stands and {others} missed (superseded){_turns(group)}."


def _turns(group: Sequence[Rule]) -> str:
    at_request = [rule for rule in group if not rule.match.needs_response]
    at_answer = [rule for rule in group if rule.match.needs_response]
    if not at_request or not at_answer:
        return ""
    verb, its = ("is" if len(each) == 1 else "are" for each in (at_request, at_answer))
    later = "only" if its == verb else f"{its} only"
    return (
        f": {_names(at_request)} {verb} judged at the request, {_names(at_answer)} {later} at the"
        " answer"
    )


def _rules(rules: Sequence[Rule]) -> str:
    return f"{of_number(len(rules), 'Rule')} {_names(rules)}"


def _names(rules: Sequence[Rule]) -> str:
    *others, last = (repr(rule.name) for rule in rules)
    return f"{', '.join(others)} and {last}" if others else last


def _as_judged(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules in the order of their turns: at the request first, then at the answer."""
    return sorted(rules, key=lambda rule: rule.match.needs_response)


def _stands_for(earlier: Rule, later: Rule) -> bool:
    """Whether the earlier rule leaves nothing to the later one."""
    return (
        earlier.fault.point == later.fault.point
        and _may_meet(earlier, later)
        and _ends(earlier)
        and _ends(later)
        and _hits_all_of(earlier, later)
    )


def _what(rule: Rule) -> _What:
    return "exchange" if rule.fault.point is None else "attempt"


def _judged_together(one: Rule, other: Rule) -> bool:
    return one.match.needs_response == other.match.needs_response


def _may_meet(one: Rule, other: Rule) -> bool:
    """Whether one exchange can match both, as far as can be told without seeing any."""
    return (
        (one.targets_llm, one.targets_mcp) == (other.targets_llm, other.targets_mcp)
        and _share(_methods(one), _methods(other))
        and _calls_may_meet(one.match, other.match)
        and _share(one.match.method, other.match.method)
        and _share(one.resources, other.resources)
        and _share(one.match.status, other.match.status)
        and _urls_may_meet(one.match, other.match)
    )


def _calls_may_meet(one: Match, other: Match) -> bool:
    some, others = one.llm or LlmMatch(), other.llm or LlmMatch()
    return _share(some.family, others.family) and _share(some.step, others.step)


def _methods(rule: Rule) -> tuple[str, ...]:
    """Return what a rule is about of what servers of tools are asked; empty where that is open."""
    if not rule.targets_mcp or (rule.match.mcp is not None and rule.match.mcp.method is not None):
        return ()
    known = ("tools/call", "tools/list")
    return tuple(method for method in known if rule.fault.asks_tools(method, "tool"))


def _asks_all_of(wide: Rule, narrow: Rule) -> bool:
    some, others = wide.match.mcp or McpMatch(), narrow.match.mcp or McpMatch()
    alike = some.method == others.method and _methods(wide) == _methods(narrow)
    return (
        alike and some.tool in (None, others.tool) and wide.fault.tools in ("*", narrow.fault.tools)
    )


def _share(some: Sequence[object] | None, others: Sequence[object] | None) -> bool:
    return not some or not others or bool(set(some) & set(others))


def _urls_may_meet(one: Match, other: Match) -> bool:
    if SITES in f"{one.url} {other.url}":
        return True
    for single, pattern in ((one, other), (other, one)):
        if (url := only_url(single)) is not None:
            return matcher(pattern, ())(url)
    if one.url is None or other.url is None:
        return True
    fixed, longer = sorted(normalise(glob).partition("*")[0] for glob in (one.url, other.url))
    return longer.startswith(fixed)


def only_url(match: Match) -> str | None:
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
    effects, _ = rule.fault.effects(exchange, {}, KeyedRng(0, rule.name))
    return any(effect.traits.is_terminal for effect in effects)


def _hits_all_of(earlier: Rule, later: Rule) -> bool:
    """Whether every exchange that the later rule hits is surely hit by the earlier one."""
    wide, narrow = earlier.trigger, later.trigger
    if wide.trials is not None:
        # Each rule draws by itself.
        return False
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
        and wide.match.llm in (None, LlmMatch(), narrow.match.llm)
        and (not wide.targets_mcp or _asks_all_of(wide, narrow))
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
    url = only_url(narrow)
    return url is not None and SITES not in (wide.url or "") and matcher(wide, ())(url)
