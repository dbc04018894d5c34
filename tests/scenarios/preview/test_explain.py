"""What a scenario will do, in words."""

import pytest

from warex.scenarios.preview.explain import explain
from warex.scenarios.scenario import Scenario


def rule(
    name: str, trigger: object = None, fault: object = None, **more: object
) -> dict[str, object]:
    return {
        "name": name,
        "trigger": trigger or {"always": True},
        "fault": fault or {"kind": "http_error"},
        **more,
    }


def scenario(*rules: dict[str, object], **more: object) -> Scenario:
    return Scenario.model_validate({"name": "s", "rules": list(rules), **more})


def flat(made: Scenario) -> str:
    """Return the explanation without its line breaks."""
    return " ".join(explain(made).split())


def test_every_part_of_a_rule_is_explained() -> None:
    text = flat(
        scenario(
            rule(
                "down",
                {"random": {"times": 3}, "between": [3, 10], "after_step": 2, "trials": 0.67},
                {"kind": "http_error", "status": 503, "stage": "response"},
                match={
                    "url": "https://shop.example/*",
                    "method": ["GET", "POST"],
                    "resource": "document",
                    "status": [200, 302],
                    "content_type": "text/html",
                },
                per="url",
            ),
            arm="first_page",
            never=["https://shop.example/health*"],
            description="The shop is down.",
        )
    )
    for part in (
        "Scenario 's' The shop is down.",
        "From when on: the first top-level page of a task site, that page included.",
        "rule is about them or spells out the host; and https://shop.example/health*.",
        "1. down Which exchanges: GET or POST requests whose resource is document, whose URL fits"
        " https://shop.example/*, where the site answers 200 or 302, where the answer's media type"
        " is text/html",
        "Which are hit: each with probability 0.5, until 3 were hit; only between second 3 and"
        " second 10 of the trial; only after step 2 of the agent; what comes outside is not"
        " counted; only in 0.67 of all trials",
        "Counting: each method and URL is numbered by itself",
        "The browser meets: http_error: is handled by the site and then answered 503",
        "When: after the site has acted, so only its answer is lost: an order sent is an order"
        " placed",
    ):
        assert part in text


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"kind": "popup"}, "its answer is changed on the way: an order sent is an order placed"),
        ({"kind": "slow_page"}, "its answer comes late: an order sent is an order placed"),
        ({"kind": "http_error", "stage": "response"}, "so only its answer is lost: an order"),
    ],
)
def test_what_becomes_of_the_answer_of_a_site_that_has_acted_is_reported(
    fault: dict[str, object], words: str
) -> None:
    assert words in flat(scenario(rule("r", fault=fault)))


@pytest.mark.parametrize(
    ("trigger", "words"),
    [
        ({"first": 1}, "the first one; after that the site is healthy again"),
        ({"first": 5}, "the first 5; after that"),
        ({"nth": [2, 5]}, "numbers 2 and 5, and no other"),
        ({"nth": 3}, "number 3, and no other"),
        ({"every": 1}, "Which are hit: all Counting"),
        ({"every": 3}, "every 3rd"),
        ({"every": 11}, "every 11th"),
        ({"probability": 0.25}, "each with probability 0.25, without limit"),
        ({"always": True}, "Which are hit: all Counting"),
    ],
)
def test_every_trigger_has_its_words(trigger: object, words: str) -> None:
    assert words in flat(scenario(rule("down", trigger)))


@pytest.mark.parametrize(
    ("match", "words"),
    [
        ({}, "requests, at any URL"),
        ({"url": "{sites}"}, "on the benchmark's task sites"),
        ({"url": "https://a.example/x"}, "at exactly https://a.example/x (a pattern without *"),
        ({"url_exact": "https://a.example/*"}, "at exactly https://a.example/*"),
        ({"url_regex": "cart"}, "whose URL contains a match of `cart`"),
    ],
)
def test_every_pattern_has_its_words(match: object, words: str) -> None:
    assert words in flat(scenario(rule("down", match=match)))


@pytest.mark.parametrize(
    ("kind", "healthy", "client"),
    [
        ("http_error", "the site is healthy", "browser"),
        ("llm_error", "the model is healthy", "agent"),
        ("mcp_error", "the server of tools is healthy", "agent"),
    ],
)
def test_a_rule_explains_its_hits_and_what_is_healthy_then(
    kind: str, healthy: str, client: str
) -> None:
    text = flat(scenario(rule("down", {"first": 1}, {"kind": kind})))

    assert f"the first one; after that {healthy} again" in text
    assert f"The {client} meets: {kind}: " in text


def test_a_scenario_without_rules_says_that_nothing_is_hit() -> None:
    assert "There are no rules: nothing is hit." in explain(scenario())


def test_a_connection_fault_is_explained_by_attempt_and_mode() -> None:
    message = flat(
        scenario(
            rule(
                "gone",
                {"first": 1},
                {"kind": "connection_refused"},
                match={"url": "https://shop.example/*"},
                per="url",
            )
        )
    )
    for part in (
        "Which exchanges: connections to shop.example, port 443 Which are hit: the first one;",
        "Counting: connection tries at one host and port within 3 s are counted as one; each"
        " host and port is numbered by itself",
        "connection_refused: is refused at once (a TCP reset), as where nobody listens;",
        "When: before there is a request, so the site does nothing; shows in namespace mode (warex"
        " exec --isolate namespace, or the same of warex run) only",
    ):
        assert part in message


@pytest.mark.parametrize(
    ("match", "kind", "words"),
    [
        ({"url": "*"}, "connection_timeout", "connections to any host Which"),
        ({}, "tls_error", "TLS handshakes with any host Which"),
        ({"url": "{sites}"}, "tls_error", "TLS handshakes with the benchmark's task sites (any"),
        ({"url": "*://*.example"}, "tls_error", "TLS handshakes with *.example, any port Which"),
        (
            {"url_exact": "http://shop.example"},
            "dns_failure",
            "lookups of the name of shop.example",
        ),
    ],
)
def test_what_a_connection_fault_is_about_is_reported(match: object, kind: str, words: str) -> None:
    assert words in flat(scenario(rule("gone", fault={"kind": kind}, match=match)))


def test_where_a_fault_shows_is_reported_only_where_that_is_not_everywhere() -> None:
    assert "namespace" not in flat(scenario(rule("gone", fault={"kind": "tls_error"})))


def test_what_arms_before_a_page_or_in_place_of_one_is_reported() -> None:
    refused = {"kind": "connection_refused"}
    assert "Connection tries at a task site count before it" in flat(
        scenario(rule("r", fault=refused), arm="first_page")
    )
    pages = {"resource": ["document", "other"]}
    assert "The first request of a program, which asks for no page, stands for one." in flat(
        scenario(rule("r", match=pages), arm="first_page")
    )
    assert "stands for one" not in flat(scenario(rule("r", match=pages)))


@pytest.mark.parametrize(
    ("mcp", "kind", "words"),
    [
        ({}, "http_error", "exchanges: calls of tools over MCP Which"),
        ({"tool": ["buy", "b*"]}, "mcp_slow", "calls of tools over MCP, of `buy` or `b*` Which"),
        ({"method": "tools/list"}, "mcp_error", "servers of tools (MCP) for `tools/list` Which"),
        ({}, "mcp_tool_missing", "calls of tools over MCP, and requests for their list Which"),
        ({}, "mcp_error", "When: before the server hears of a call, so no tool is run"),
        ({}, "mcp_slow", "When: the tool does its work, late"),
        ({}, "mcp_result_corrupt", "When: after the tool has done its work, so only its answer"),
    ],
)
def test_what_a_rule_of_tools_is_about_is_reported(mcp: object, kind: str, words: str) -> None:
    assert words in flat(scenario(rule("tools", fault={"kind": kind}, match={"mcp": mcp})))


def test_what_is_different_for_good_is_not_called_healthy_again() -> None:
    text = flat(scenario(rule("a", {"first": 1}, {"kind": "item_gone"})))

    assert "the first one; what is different then stays so" in text
    assert "Which exchanges: GET requests whose resource is document or xhr" in text
