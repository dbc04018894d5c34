"""Describes in words what a scenario does."""

import textwrap
from collections.abc import Iterable, Mapping
from typing import Final

from warex.faults import ConnectionFault, ConnectionPhase
from warex.scenarios.lint.linter import lint, may_write
from warex.scenarios.namespace_only import NAMESPACE_MODE
from warex.scenarios.scenario import SITES, LlmMatch, Match, McpMatch, Rule, Scenario, Trigger
from warex.text.english import listing, of_number
from warex.text.escaping import in_backticks

_ARMED: Final = {
    None: "From when on: the benchmark decides; where there is none, from the start.",
    "start": "From when on: the start of the trial.",
    "first_page": "From when on: the first top-level page of a task site, that page included.",
    "first_llm_call": "From when on: the agent's first call to its model.",
    "first_page_or_llm_call": "From when on: the first top-level page of a task site, that page"
    " included, or the agent's first call to its model, whichever comes first.",
}
_NEVER: Final = (
    "the browser's background traffic, favicons, certificate checks, and calls to a model or to "
    "tools (MCP) unless a rule is about them or spells out the host"
)
_ATTEMPTS: Final[Mapping[ConnectionPhase, str]] = {
    "name": "lookups of the name of",
    "connect": "connections to",
    "tls": "TLS handshakes with",
}
_WIDTH: Final = 96


def explain(scenario: Scenario, sites: tuple[str, ...] = ()) -> str:
    """Return one paragraph for each rule, then the lint warnings."""
    lines = [f"Scenario {scenario.name!r}"]
    if scenario.description:
        lines += _wrapped("", scenario.description)
    more = f"; and {listing(scenario.never)}" if scenario.never else ""
    lines += ["", *_wrapped("", _armed(scenario))]
    lines += _wrapped("", f"Never touched nor counted: {_NEVER}{more}.")
    if not scenario.rules:
        lines += ["", "There are no rules: nothing is hit."]
    for number, rule in enumerate(scenario.rules, start=1):
        lines += ["", f"{number}. {rule.name}"]
        for label, words in explain_rule(rule).items():
            lines += _wrapped(f"   {label + ':':<19}", words)
    if warnings := lint(scenario, sites):
        lines += ["", "Warnings"]
        for warning in warnings:
            lines += _wrapped(" - ", warning)
    return "\n".join(lines) + "\n"


def explain_rule(rule: Rule) -> Mapping[str, str]:
    """Return a rule's parts in words, by label."""
    server = _server(rule)
    client = "browser" if server == "site" else "agent"
    return {
        "Which exchanges": _exchanges(rule),
        "Which are hit": _explain_selection(rule, server) + _windows(rule.trigger),
        "Counting": _counting(rule),
        f"The {client} meets": f"{rule.fault.kind}: {rule.fault.explain()}",
        "When": _explain_trigger(rule),
    }


def _armed(scenario: Scenario) -> str:
    words = _ARMED[scenario.arm]
    if scenario.arm in ("first_page", "first_page_or_llm_call"):
        if any(rule.fault.point is not None for rule in scenario.rules):
            words += " Connection tries at a task site count before it"
            words += " (any site, if none is known)."
        if scenario.page_resources_of_programs:
            words += " The first request of a program, which asks for no page, stands for one."
    return words


def _wrapped(label: str, words: str) -> list[str]:
    return textwrap.wrap(
        words,
        _WIDTH,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )


def _exchanges(rule: Rule) -> str:
    match, point = rule.match, rule.fault.point
    if point is not None:
        return f"{_ATTEMPTS[point]}{_origins(match, point)}"
    if rule.targets_llm:
        words, server = _calls(match.llm or LlmMatch()), "the model's API"
    elif rule.targets_mcp:
        words, server = _requests_to_tools(rule), "the server"
    else:
        words, server = f"{_or(rule.methods)} requests" if rule.methods else "requests", "the site"
        words += f" whose resource is {_or(rule.resources)}" if rule.resources else ""
        words += " of another site than the page" if rule.fault.third_party_only else ""
    if server == "the site" or match != Match(llm=match.llm, mcp=match.mcp):
        words += _explain_match(match)
    if match.status:
        words += f", where {server} answers {_or(map(str, match.status))}"
    if match.content_type and server == "the site":
        words += f", where the answer's media type is {_or(match.content_type)}"
    elif rule.fault.media_types:
        words += ", where the answer is a stream of events"
    return words


def _calls(llm: LlmMatch) -> str:
    """Return, in words, the calls to a model that a rule is about."""
    words = "calls to a model"
    if llm.family:
        words += f" over {_or(llm.family)}"
    if llm.model:
        words += f", asked for as {in_backticks(llm.model)}"
    if llm.step:
        steps = of_number(len(llm.step), "step")
        words += f", in the agent's {steps} {listing(map(str, llm.step))}"
    return words


def _requests_to_tools(rule: Rule) -> str:
    """Return, in words, the requests to MCP servers that a rule is about."""
    wanted = rule.match.mcp or McpMatch()
    if wanted.method:
        words = f"requests to servers of tools (MCP) for {_or(map(in_backticks, wanted.method))}"
    elif rule.fault.asks_tools("tools/list", ""):
        words = "calls of tools over MCP, and requests for their list"
    else:
        words = "calls of tools over MCP"
    if wanted.tool:
        words += f", of {_or(map(in_backticks, wanted.tool))}"
    return words


def _origins(match: Match, point: ConnectionPhase) -> str:
    """Return, in words, the hosts and ports of a connection fault."""
    pattern = match.url_exact or match.url
    if pattern is None or pattern == "*":
        return " any host"
    origins = match.origin
    if origins is None:
        return " the benchmark's task sites (any host where none are known)"
    host = "any host" if origins.host == "*" else origins.host
    if point == "name":
        return f" {host}, whatever the port" if origins.port else f" {host}"
    return f" {host}, port {origins.port}" if origins.port else f" {host}, any port"


def _explain_match(match: Match) -> str:
    if match.url_exact is not None:
        return f", at exactly {match.url_exact}"
    if match.url_regex is not None:
        return f", whose URL contains a match of {in_backticks(match.url_regex)}"
    if match.url is None:
        return ", at any URL"
    if match.url == SITES:
        return ", on the benchmark's task sites (any site where none are known)"
    if "*" not in match.url and SITES not in match.url:
        return f", at exactly {match.url} (a pattern without * is one URL)"
    return f", whose URL fits {match.url}"


def _server(rule: Rule) -> str:
    """Return the server of a rule's exchanges, in words."""
    if rule.targets_llm:
        return "model"
    return "server of tools" if rule.targets_mcp else "site"


def _explain_selection(rule: Rule, server: str) -> str:
    trigger = rule.trigger
    if trigger.first is not None:
        number = "the first one" if trigger.first == 1 else f"the first {trigger.first}"
        if rule.fault.category == "change":
            return f"{number}; what is different then stays so"
        return f"{number}; after that the {server} is healthy again"
    if trigger.nth is not None:
        number = of_number(len(trigger.nth), "number")
        return f"{number} {listing(map(str, trigger.nth))}, and no other"
    if trigger.every is not None:
        return "all" if trigger.every == 1 else f"every {_ordinal(trigger.every)}"
    if trigger.random is not None:
        chance = f"{trigger.random.probability:.3g}"
        return f"each with probability {chance}, until {trigger.random.times} were hit"
    if trigger.probability is not None:
        return f"each with probability {trigger.probability:.3g}, without limit"
    return "all"


def _windows(trigger: Trigger) -> str:
    words = ""
    if trigger.between is not None:
        start, end = trigger.between
        words += f"; only between second {start:g} and second {end:g} of the trial"
    if trigger.after_step is not None:
        words += f"; only after step {trigger.after_step} of the agent"
    if words:
        words += "; what comes outside is not counted"
    if trigger.trials is not None:
        words += f"; only in {trigger.trials:.3g} of all trials"
    return words


def _counting(rule: Rule) -> str:
    if isinstance(rule.fault, ConnectionFault):
        place = "host" if rule.fault.point == "name" else "host and port"
        one = f"connection tries at one {place} within {rule.fault.hold:g} s are counted as one"
        if rule.per == "rule":
            return f"{one}; all are numbered together, in order of arrival"
        return f"{one}; each {place} is numbered by itself"
    if rule.per == "rule":
        return "all that the rule is about are numbered together, in order of arrival"
    return "each method and URL is numbered by itself"


def _explain_trigger(rule: Rule) -> str:
    if rule.fault.point is not None:
        where = f"; shows in {NAMESPACE_MODE} only" if rule.fault.needs_namespace else ""
        return f"before there is a request, so the site does nothing{where}"
    if rule.targets_llm:
        if rule.fault.stage == "request":
            return "before the model is asked, so it spends no tokens"
        if rule.fault.needs_stream:
            return (
                "after the model has answered, so its tokens are spent; an answer that is not a"
                " stream passes unchanged, and the ledger says `fault_missed`, `not_streamed`"
            )
        return "after the model has answered, so its tokens are spent"
    if rule.targets_mcp:
        if rule.fault.stage == "response":
            return "after the tool has done its work, so only its answer is lost"
        if rule.fault.keeps_answer:
            return "the tool does its work, late"
        return "before the server hears of a call, so no tool is run"
    if rule.fault.changes_messages:
        return "while messages pass; both ends take part in the rest of the conversation"
    if rule.fault.stage == "request" and rule.fault.keeps_answer:
        return "before the site sees the request, which it gets late"
    if rule.fault.stage == "request":
        return "before the site sees the request, so the site does nothing"
    if rule.fault.rewrites:
        words = "after the site has acted; its answer is changed on the way"
    elif rule.fault.keeps_answer:
        words = "after the site has acted; its answer comes late"
    else:
        words = "after the site has acted, so only its answer is lost"
    return f"{words}: an order sent is an order placed" if may_write(rule) else words


def _or(words: Iterable[str]) -> str:
    return listing(words, "or")


def _ordinal(number: int) -> str:
    teens = 10 <= number % 100 <= 20
    ending = "th" if teens else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
