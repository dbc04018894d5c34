"""Lint warnings for a scenario: rules that meet, that can never apply, and other surprises."""

from collections.abc import Iterable
from typing import Final

from warex.exchange import SUBRESOURCES
from warex.faults import ConnectionFault
from warex.scenarios.lint.answers import data_as_documents, websockets_among
from warex.scenarios.lint.collisions import collisions, explain_superseded, only_url, superseded
from warex.scenarios.lint.connection_faults import lint_connection_rule
from warex.scenarios.lint.off_site import off_site
from warex.scenarios.lint.unmatchable import exclusions_without_effect, unmatchable
from warex.scenarios.scenario import Rule, Scenario, Trigger
from warex.text.english import listing
from warex.traffic import Arm

_SAFE_METHODS: Final = {"GET", "HEAD", "OPTIONS"}


def lint(scenario: Scenario, sites: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return a lint warning for each thing in the scenario that its author may not have meant.

    ``sites`` are the task sites' origins, if known.
    """
    inapplicable = {*superseded(scenario.rules), *hopeless_rules(scenario, sites)}
    left = [rule for rule in scenario.rules if rule.name not in inapplicable]
    return (
        *exclusions_without_effect(scenario.never),
        *rules_without_effect(scenario, sites),
        *_grouped((rule, clause) for rule in left for clause in _predicates_of(rule, scenario)),
        *collisions(left),
    )


def rules_without_effect(scenario: Scenario, sites: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Return a sentence for each reason why a rule can hit nothing."""
    hopeless = hopeless_rules(scenario, sites)
    clauses = ((rule, clause) for rule in scenario.rules for clause in hopeless.get(rule.name, ()))
    left = [rule for rule in scenario.rules if rule.name not in hopeless]
    return (*_grouped(clauses), *explain_superseded(left))


def hopeless_rules(scenario: Scenario, sites: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return, by name, why rules can hit nothing, whatever the other rules are."""
    hopeless: dict[str, tuple[str, ...]] = {}
    for rule in scenario.rules:
        clauses = tuple(unmatchable(rule, scenario.never, sites))
        if not clauses and not (rule.targets_llm or rule.targets_mcp):
            clauses = tuple(off_site(rule, sites))
        if clauses:
            hopeless[rule.name] = clauses
    return hopeless


def _grouped(clauses: Iterable[tuple[Rule, str]]) -> Iterable[str]:
    """Yield a sentence for each predicate, with all the rules that it holds for."""
    groups: dict[str, list[str]] = {}
    for rule, clause in clauses:
        groups.setdefault(clause, []).append(repr(rule.name))
    for clause, (first, *others) in groups.items():
        more = f" The same holds of {listing(others)}." if others else ""
        yield f"Rule {first} {clause}{more}"


def _predicates_of(rule: Rule, scenario: Scenario) -> Iterable[str]:
    """Yield a predicate of the rule for each thing that its author may not have meant."""
    if isinstance(rule.fault, ConnectionFault):
        return lint_connection_rule(rule, rule.fault, scenario.arm)
    if rule.targets_llm or rule.targets_mcp:
        # Calls are sequential and change nothing on a site.
        return ()
    return (
        *_predicates_of_one(rule),
        *websockets_among(rule),
        *data_as_documents(rule),
        *_after_the_document(rule, scenario.arm),
    )


def may_write(rule: Rule) -> bool:
    """Whether the rule may hit a request that changes something on the site."""
    by_get = bool(rule.resources) and SUBRESOURCES.issuperset(rule.resources)
    methods = rule.methods
    safe = methods is not None and _SAFE_METHODS.issuperset(methods)
    return not (by_get or safe)


def _predicates_of_one(rule: Rule) -> Iterable[str]:
    traits = [effect.traits for effect in rule.fault.effects_on_page()]
    loses_answer = any(
        not (it.keeps_response or it.rewrites or it.changes_messages) for it in traits
    )
    if rule.fault.stage == "response" and loses_answer and may_write(rule):
        yield (
            "is applied after the site has acted, also on writes such as POST: the order was"
            " placed, and the browser is told that it was not."
        )
    if rule.fault.never_ends and _hits_all(rule.trigger):
        yield (f"hits every request, so {rule.fault.never_ends}; `first: 1` or `nth` lets it end.")
    parallel = only_url(rule.match) is None and set(rule.resources) != {"document"}
    if rule.per == "rule" and not rule.trigger.always and parallel:
        yield (
            "numbers requests together that a browser sends in parallel, so which of them are hit"
            " can differ from run to run; `per: url` hits the same ones in any order."
        )


def _hits_all(trigger: Trigger) -> bool:
    """Whether every matching request is hit, from some time on until the end."""
    every = trigger.always is True or trigger.every == 1 or trigger.probability == 1
    return every and trigger.between is None


def _after_the_document(rule: Rule, arm: Arm | None) -> Iterable[str]:
    """Warn of a rule about documents that starts after a single-page site has loaded its own."""
    late = arm == "first_llm_call" or rule.trigger.after_step
    if set(rule.resources) == {"document"} and late:
        yield (
            "hits documents from the agent's first step on: a single-page site has one, loaded"
            " before, and there it may reach nothing; the presets spa/… reach the data that such a"
            " site asks for."
        )
