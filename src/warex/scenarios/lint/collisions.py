"""Rules that may hit the same exchange or connection try, and which of them are applied."""

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import combinations
from typing import Literal, NamedTuple, Self
from urllib.parse import urlsplit

from warex.effects import Effect, Reply
from warex.exchange import Exchange, Request, Response
from warex.faults import Stage
from warex.scenarios.injection.planner import collide
from warex.scenarios.matching.url_patterns import matcher, normalise
from warex.scenarios.scenario import SITES, LlmMatch, Match, Rule, Trigger
from warex.seeds import KeyedRng
from warex.text.english import listing, of_number

type _What = Literal["exchange", "connection try"]
type _Together = Literal["both", "first", "redirect"]
"""What is applied of two rules that meet: both, the first only, or one that leaves no page."""


def superseded(rules: Iterable[Rule]) -> dict[str, Rule]:
    """Return, by name, the rules that can never apply, each with the rule that supersedes it."""
    superseded: dict[str, Rule] = {}
    for earlier, later in combinations(_as_judged(rules), 2):
        if later.name not in superseded and _supersedes(earlier, later):
            superseded[later.name] = earlier
    return superseded


def explain_superseded(rules: Sequence[Rule]) -> Iterator[str]:
    """Yield a sentence for each rule that supersedes others."""
    by_name = {rule.name: rule for rule in rules}
    groups: dict[tuple[str, str], list[Rule]] = {}
    for name, earlier in superseded(rules).items():
        later = by_name[name]
        together = earlier.needs_response == later.needs_response
        why = "comes before" if together else "is judged at the request"
        groups.setdefault((earlier.name, why), []).append(later)
    for (earlier_name, why), later_ones in groups.items():
        one = len(later_ones) == 1
        end = (" it" if one else " them") if why == "comes before" else ""
        verb = "already answers" if _Example.of(by_name[earlier_name]).ends else "already hits"
        yield (
            f"{_rules(later_ones)} can never apply: rule {earlier_name!r} {why}{end} and {verb}"
            f" every {_subject(later_ones[0])} {'it' if one else 'they'} would hit (missed:"
            " superseded)."
        )


def collisions(rules: Iterable[Rule]) -> Iterator[str]:
    """Yield a sentence for each group of rules that may hit the same exchange."""
    judged = _as_judged(rules)
    meetings: dict[tuple[_What, _Together], set[tuple[int, int]]] = {}
    for (i, earlier), (j, later) in combinations(enumerate(judged), 2):
        if earlier.fault.point == later.fault.point and _may_meet(earlier, later):
            together = _applied_together(earlier, later)
            meetings.setdefault((_subject(earlier), together), set()).add((i, j))
    for (what, together), pairs in meetings.items():
        for group in _connected(pairs):
            rules_of_group = [judged[each] for each in group]
            yield _sentence(what, together, rules_of_group, _shape(group, pairs))


type _Shape = Literal["all", "first", "last", "some"]
"""Which pairs of a group meet: all, those with its first or its last rule, or some."""


def _shape(group: Sequence[int], pairs: Set[tuple[int, int]]) -> _Shape:
    every = set(combinations(group, 2))
    inside = every & pairs
    if inside == every:
        return "all"
    if inside == {(group[0], other) for other in group[1:]}:
        return "first"
    if inside == {(other, group[-1]) for other in group[:-1]}:
        return "last"
    return "some"


def _connected(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return the connected components of the pairs, as sorted numbers."""
    groups: list[set[int]] = []
    for pair in pairs:
        touched = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if group not in touched]
        groups.append(set(pair).union(*touched))
    return sorted(map(sorted, groups))


def _sentence(what: _What, together: _Together, group: Sequence[Rule], shape: _Shape) -> str:
    many = len(group) > 2
    if shape == "first":
        lead = f"Rule {group[0].name!r} may meet each of the rules {_names(group[1:])}"
    elif shape == "last":
        lead = f"Rule {group[-1].name!r} may meet each of the rules {_names(group[:-1])}"
    else:
        lead = f"{'Some of the rules' if shape == 'some' else 'Rules'} {_names(group)} may meet"
    lead += f" in one {what}; then"
    if together == "redirect":
        redirects = [rule for rule in group if _Example.of(rule).redirects]
        changes = [rule for rule in group if rule not in redirects]
        return (
            f"{lead} the redirect of {_names(redirects)} is sent, in which"
            f" {_names(changes)} {'finds' if len(changes) == 1 else 'find'} no page (missed:"
            " nothing_to_rewrite)."
        )
    if together == "both":
        before = [rule for rule in group if _Example.of(rule).stage == "request"]
        after = [rule for rule in group if _Example.of(rule).stage == "response"]
        order = "in this order"
        if [*before, *after] != list(group):
            order = f"{_names(before)} before the site is asked, {_names(after)} at its answer"
        return f"{lead} {'all that meet' if many else 'both'} are applied, {order}."
    if not many or shape == "first":
        first, missed = repr(group[0].name), "the other" if many else repr(group[1].name)
    elif shape == "last":
        first, missed = "the other", repr(group[-1].name)
    else:
        first, missed = "the first in this order", ""
    others = f"{missed} is" if missed else "the others are"
    return f"{lead} {first} is applied and {others} missed (superseded){_turns(group)}."


def _turns(group: Sequence[Rule]) -> str:
    at_request = [rule for rule in group if not rule.needs_response]
    at_answer = [rule for rule in group if rule.needs_response]
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
    return listing(repr(rule.name) for rule in rules)


def _as_judged(rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules as they are judged: first those at the request, then those at the answer."""
    return sorted(rules, key=lambda rule: rule.needs_response)


def _supersedes(earlier: Rule, later: Rule) -> bool:
    """Whether the earlier rule supersedes the later one in every exchange."""
    return (
        earlier.fault.point == later.fault.point
        and _may_meet(earlier, later)
        and _collide(earlier, later)
        and _hits_all_of(earlier, later)
    )


def _subject(rule: Rule) -> _What:
    return "exchange" if rule.fault.point is None else "connection try"


def _may_meet(one: Rule, other: Rule) -> bool:
    """Whether an exchange may match both rules; when in doubt, it may."""
    return (
        (one.targets_llm, one.targets_mcp) == (other.targets_llm, other.targets_mcp)
        and _share(_methods(one), _methods(other))
        and _calls_may_meet(one.match, other.match)
        and _share(one.methods, other.methods)
        and _share(one.resources, other.resources)
        and _share(one.match.status, other.match.status)
        and _urls_may_meet(one.match, other.match)
        and _times_may_meet(one, other)
    )


def _times_may_meet(one: Rule, other: Rule) -> bool:
    """Whether an exchange may be judged within the windows of both."""
    if one.match.needs_response != other.match.needs_response:
        return True  # An exchange may begin in one window and end in another.
    windows = [rule.trigger.between for rule in (one, other) if rule.trigger.between is not None]
    return len(windows) < 2 or max(it[0] for it in windows) <= min(it[1] for it in windows)


def _calls_may_meet(one: Match, other: Match) -> bool:
    some, others = one.llm or LlmMatch(), other.llm or LlmMatch()
    return _share(some.family, others.family) and _share(some.step, others.step)


def _methods(rule: Rule) -> tuple[str, ...]:
    """Return the MCP methods that the rule's fault is about; empty for other and open rules."""
    if not rule.targets_mcp or (rule.match.mcp is not None and rule.match.mcp.method is not None):
        return ()
    known = ("tools/call", "tools/list")
    return tuple(method for method in known if rule.fault.asks_tools(method, "tool"))


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
    """Return the only URL that matches; None if several may."""
    url = match.url_exact or match.url
    if url is None or (match.url_exact is None and ("*" in url or SITES in url)):
        return None
    return normalise(url if urlsplit(url).path else f"{url}/")


class _Example(NamedTuple):
    """What a rule's fault does to an example of an exchange (faults are pure)."""

    stage: Stage
    effects: tuple[Effect, ...]

    @classmethod
    def of(cls, rule: Rule) -> Self:
        url = rule.match.url_exact or "https://site.example/"
        method = rule.methods[0] if rule.methods else "GET"
        response = Response(rule.match.status[0] if rule.match.status else 200)
        exchange = Exchange("trial", Request(method, url), response)
        effects, _ = rule.fault.effects(exchange, {}, KeyedRng(0, rule.name))
        return cls(rule.fault.stage_of(effects), effects)

    @property
    def ends(self) -> bool:
        return any(effect.traits.is_terminal for effect in self.effects)

    @property
    def redirects(self) -> bool:
        return any(isinstance(it, Reply) and 300 <= it.status <= 399 for it in self.effects)

    @property
    def rewrites(self) -> bool:
        return all(effect.traits.rewrites for effect in self.effects)


def _applied_together(earlier: Rule, later: Rule) -> _Together:
    """Return what is applied of two rules that hit one exchange or connection try."""
    if _collide(earlier, later):
        return "first"
    one, other = _Example.of(earlier), _Example.of(later)
    # Where the site is asked, its page is changed before a later redirect takes its place.
    no_page = one.redirects and other.rewrites
    no_page = no_page or (other.redirects and other.stage == "request" and one.rewrites)
    return "redirect" if no_page else "both"


def _collide(earlier: Rule, later: Rule) -> bool:
    """Whether a hit of the earlier rule prevents one of the later rule."""
    one, other = _Example.of(earlier), _Example.of(later)
    judged_later = later.needs_response and not earlier.needs_response
    if judged_later and one.stage == "request" and one.ends:
        return True  # Without an answer of the site, the later rule is not judged.
    return collide(one, other)


def _hits_all_of(earlier: Rule, later: Rule) -> bool:
    """Whether the earlier rule hits every exchange that the later rule hits.

    Only plain cases are found: the earlier rule is always triggered, and its match is equal or
    without any key.
    """
    return (
        earlier.trigger == Trigger(always=True)
        and earlier.match in (Match(), later.match)
        and (not earlier.resources or earlier.resources == later.resources)
        and (earlier.methods is None or earlier.methods == later.methods)
        and (not earlier.fault.third_party_only or later.fault.third_party_only)
        and _methods(earlier) == _methods(later)
        and earlier.fault.tools in ("*", later.fault.tools)
    )
