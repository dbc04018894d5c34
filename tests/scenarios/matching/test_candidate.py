import pytest
from msgspec import structs
from msgspec.structs import replace
from pydantic import JsonValue

from tests.scenarios.builders import PAGE, answer, ask, one
from warex.exchange import Exchange, Request
from warex.llm.exchange import as_call
from warex.mcp import McpRequest
from warex.mcp.exchange import McpExchange
from warex.scenarios.matching.candidate import Candidate, rule_matcher


def test_a_candidate_is_all_that_a_match_looks_at() -> None:
    exchange = ask("HTTPS://shop.test:443/?q#top")

    assert Candidate.of(exchange) == (
        "GET",
        f"{PAGE}?q",
        "document",
        "site",
        None,
        "",
        None,
        None,
        True,
        False,
    )
    exchange = structs.replace(exchange, server="llm")
    assert Candidate.of(answer(exchange, 404, "Text/HTML; charset=x")) == (
        *("GET", f"{PAGE}?q", "document", "llm", 404, "text/html", None, None, True, False),
    )


def call(model: str, step: int) -> Candidate:
    exchange = as_call(Exchange("x1", Request("POST", "https://any.test/")))
    asked = replace(exchange.llm_request, model=model)
    return Candidate.of(structs.replace(exchange, llm_request=asked, step=step))


@pytest.mark.parametrize(
    ("llm", "fits"),
    [
        ({}, True),
        ({"family": "openai_chat"}, True),
        ({"family": "anthropic_messages"}, False),
        ({"model": "gpt-*"}, True),
        ({"model": "claude-*"}, False),
        ({"step": [2, 3]}, True),
        ({"step": 2}, False),
        ({"family": "openai_chat", "model": "gpt-4o", "step": 3}, True),
    ],
)
def test_a_rule_of_calls_is_about_those_that_it_names(llm: JsonValue, fits: bool) -> None:
    [rule] = one(match={"llm": llm}).rules
    about = rule_matcher(rule, ("https://shop.test",))

    assert about(call("gpt-4o", 3)) == fits
    assert not about(Candidate.of(ask()))
    assert not about(Candidate.of(ask("https://api.openai.com/v1/models", server="llm")))


def requested(*asked: tuple[str, str]) -> Candidate:
    messages = tuple(McpRequest(1, 1, method, {"name": tool}) for method, tool in asked)
    request = Request("POST", "https://tools.test/mcp")
    return Candidate.of(McpExchange("x1", request, mcp_requests=messages))


@pytest.mark.parametrize(
    ("mcp", "fault", "fits"),
    [
        ({}, "http_error", True),
        ({"tool": ["sell", "b*"]}, "http_error", True),
        ({"tool": "sell"}, "http_error", False),
        ({"method": "tools/list"}, "http_error", False),
        ({"method": "tools/*", "tool": "buy"}, "mcp_error", True),
        ({"tool": "buy"}, "mcp_tool_missing", True),
        (None, "mcp_slow", True),
        (None, "http_error", False),
    ],
)
def test_a_rule_of_tools_is_about_the_requests_that_it_names(
    mcp: JsonValue, fault: str, fits: bool
) -> None:
    [rule] = one(match={} if mcp is None else {"mcp": mcp}, fault={"kind": fault}).rules
    about = rule_matcher(rule, ("https://shop.test",))

    assert about(requested(("tools/call", "buy"))) == fits
    assert not about(requested())
    assert not rule.targets_mcp or not about(Candidate.of(ask()))


def test_a_missing_tool_is_missed_in_the_list_and_where_it_is_called() -> None:
    [rule] = one(fault={"kind": "mcp_tool_missing", "tool": "b*"}).rules
    about = rule_matcher(rule, ())

    assert about(requested(("tools/list", "")))
    assert about(requested(("initialize", ""), ("tools/call", "buy")))
    assert not about(requested(("tools/call", "sell")))
    assert not about(requested(("initialize", "")))


def test_a_model_fault_is_about_model_calls_by_default() -> None:
    [rule] = one(fault={"kind": "llm_empty"}).rules

    assert rule_matcher(rule, ())(call("gpt-4o", 1))
    assert not rule_matcher(rule, ())(Candidate.of(ask()))


def test_no_other_rule_is_about_a_call_unless_it_spells_the_host_out() -> None:
    [any_page] = one().rules
    [this_host] = one(match={"url": "https://model.example/*"}).rules

    assert not rule_matcher(any_page, ())(call("gpt-4o", 1))
    assert rule_matcher(this_host, ())(call("gpt-4o", 1)._replace(resource="document"))


def test_what_is_numbered_has_a_name_without_secrets() -> None:
    name = Candidate.of(ask(f"{PAGE}?key=abc&q=1&k=sk-abcdefghijklmnop1234")).scope

    assert name == f"GET {PAGE}?key=[redacted]&q=1&k=[redacted]"


def test_before_the_answer_only_what_is_known_can_rule_out() -> None:
    fault: JsonValue = {"kind": "http_error", "stage": "response"}
    [rule] = one(match={"status": 404, "method": "GET"}, fault=fault).rules
    fits = rule_matcher(rule, ())

    assert fits(Candidate.of(ask()))
    assert not fits(Candidate.of(ask(method="POST")))
    assert not fits(Candidate.of(answer(ask())))
    assert fits(Candidate.of(answer(ask(), 404)))


@pytest.mark.parametrize("resource", [None, ["document", "websocket"]])
def test_a_pattern_that_says_wss_is_about_websockets_alone(resource: JsonValue) -> None:
    match: dict[str, JsonValue] = {"url": "wss://shop.test/*"}
    [rule] = one(match=match if resource is None else {**match, "resource": resource}).rules
    fits = rule_matcher(rule, ())

    assert fits(Candidate.of(ask(headers={"upgrade": "websocket"})))
    assert not fits(Candidate.of(ask()))
    assert not fits(Candidate.of(ask(headers={"sec-fetch-dest": "empty"})))
